package iikanji

// TopicNginx is the topic of a Fact whose Data is the effective configuration of an
// nginx, a *nginx.Config. Its JSON is a list of directives, with each include replaced
// by the content of its files. Key is the path of the main file.
const TopicNginx = "nginx"

// TopicNginxFile is the topic of a Fact whose Value is the text of one file of
// that configuration, byte for byte; Key is its path.
const TopicNginxFile = "nginx_file"

// TopicNginxVersion is the topic of a Fact whose Value is the name and version
// that a program prints, as in "nginx/1.22.1".
const TopicNginxVersion = "nginx_version"
