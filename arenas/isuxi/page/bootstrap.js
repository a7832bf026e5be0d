// A press of a key in a text is nothing that must reload the page: forms are sent by their buttons.
document.addEventListener("keydown", function (event) {
  if (event.key === "Enter" && event.target.matches("input[type=text]") && event.target.form.id === "entry-post-form") {
    event.preventDefault();
  }
});
