"""The sample client of Gold Rush: it looks at one cell after the other, digs where treasures
are, and cashes them. Its knobs are variables of the environment; each has a range."""

import http.client
import json
import os
import sys
import threading
import time

FIELD = 3500
DEPTHS = 10
WALLET_MOST = 1000

# Name, default, least and most value.
KNOBS = {
    "WORKERS": (1, 1, 64),        # loops at once
    "AREA": (1, 1, 255),          # cells of a strip that is explored as a whole, before its cells
    "LICENSE_COINS": (0, 0, 21),  # price of a licence, if there are as many coins
    "CASH_FROM": (1, 1, 10),      # the least depth at which a treasure is cashed
    "CASH_TRIES": (1, 1, 20),     # how often a cash that fails is tried
}


def read_knobs():
    """Reads the knobs, and refuses values out of their range."""
    knobs = {}
    for name, (default, least, most) in KNOBS.items():
        text = os.environ.get(name, "")
        try:
            knobs[name] = int(text) if text else default
        except ValueError:
            knobs[name] = least - 1
        if not least <= knobs[name] <= most:
            sys.exit(f"goldrush: {name}={text}: want {least} to {most}")
    return knobs


class Connection:
    """One connection to the server. The status is 0 if there was no answer."""

    playing = False  # the server has answered

    def __init__(self):
        self.http = http.client.HTTPConnection(os.environ["ADDRESS"], int(os.environ["PORT"]), timeout=30)

    def call(self, method, path, value=None):
        body = None if method == "GET" else json.dumps(value)
        try:
            self.http.request(method, path, body, {"Content-Type": "application/json"})
            answer = self.http.getresponse()
            text = answer.read()
            return answer.status, json.loads(text)
        except ConnectionRefusedError:
            if Connection.playing:
                os._exit(0)  # the game is over
        except (OSError, http.client.HTTPException, ValueError):
            pass
        self.http.close()
        return 0, None


class Wallet:
    """Coins that can be spent."""

    def __init__(self):
        self.lock = threading.Lock()
        self.coins = []

    def put(self, coins):
        with self.lock:
            self.coins += coins[: max(0, WALLET_MOST - len(self.coins))]

    def take(self, n):
        with self.lock:
            if len(self.coins) < n:
                return []
            coins, self.coins = self.coins[:n], self.coins[n:]
            return coins


class Worker:
    """A loop with a connection and a licence of its own."""

    def __init__(self, knobs, wallet, rows):
        self.knobs, self.wallet, self.rows = knobs, wallet, rows
        self.server = Connection()
        self.license, self.digs = 0, 0  # its id, and how many digs it has left

    def run(self):
        for x in self.rows:
            for y in range(0, FIELD, self.knobs["AREA"]):
                self.strip(x, y, min(self.knobs["AREA"], FIELD - y))

    def explore(self, x, y, size):
        status, answer = self.server.call("POST", "/explore", {"posX": x, "posY": y, "sizeX": 1, "sizeY": size})
        return answer["amount"] if status == 200 else 0

    def strip(self, x, y, size):
        """Explores a strip, and then its cells until all treasures are found."""
        left = self.explore(x, y, size)
        if size == 1:
            self.dig(x, y, left)
            return
        for cell in range(y, y + size):
            if left <= 0:
                return
            amount = self.explore(x, cell, 1)
            self.dig(x, cell, amount)
            left -= amount

    def dig(self, x, y, amount):
        """Digs a cell until as many treasures are found as it has."""
        for depth in range(1, DEPTHS + 1):
            if amount <= 0:
                return
            while self.digs <= 0:
                self.get_license()
            place = {"licenseID": self.license, "posX": x, "posY": y, "depth": depth}
            status, treasures = self.server.call("POST", "/dig", place)
            self.digs -= 1
            if status == 200:
                amount -= 1
                for treasure in treasures:
                    self.cash(treasure, depth)

    def get_license(self):
        status, answer = self.server.call("POST", "/licenses", self.wallet.take(self.knobs["LICENSE_COINS"]))
        if status == 200:
            self.license, self.digs = answer["id"], answer["digAllowed"]

    def cash(self, treasure, depth):
        """Cashes a treasure if it is deep enough."""
        if depth < self.knobs["CASH_FROM"]:
            return
        for _ in range(self.knobs["CASH_TRIES"]):
            status, coins = self.server.call("POST", "/cash", treasure)
            if status == 200:
                self.wallet.put(coins)
                return


class Rows:
    """The rows of the field, each for one worker."""

    def __init__(self):
        self.lock = threading.Lock()
        self.next = 0

    def __iter__(self):
        while True:
            with self.lock:
                x, self.next = self.next, self.next + 1
            if x >= FIELD:
                return
            yield x


def main():
    knobs, wallet, rows = read_knobs(), Wallet(), Rows()
    while Connection().call("GET", "/health-check")[0] != 200:
        time.sleep(0.01)
    Connection.playing = True
    workers = [threading.Thread(target=Worker(knobs, wallet, rows).run, daemon=True) for _ in range(knobs["WORKERS"])]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()  # the server ends the game before the field is done


if __name__ == "__main__":
    main()
