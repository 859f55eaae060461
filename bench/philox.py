"""philox.py: the random numbers of include/spotter/rng.h in Python, for scripts that draw the same rows as Spotter does."""
import os
import re

RNG = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "include", "spotter", "rng.h")


class Philox:
    """Philox4x32-10 at an address of include/spotter/rng.h."""

    def __init__(self, seed, purpose, ec, index):
        with open(RNG) as file:
            text = file.read()
        text = re.sub(r"/\*.*?\*/", "", text[text.index("typedef enum {"):text.index("} spot_rng_purpose")], flags=re.S)
        number = 1 + re.findall(r"SPOT_RNG_(\w+)", text).index(purpose)
        self.seed, self.counter, self.words = seed, [0, index, ec, number], []

    def u32(self):
        if not self.words:
            c, k = list(self.counter), [self.seed & 0xFFFFFFFF, self.seed >> 32]
            for _ in range(10):
                a, b = 0xD2511F53 * c[0], 0xCD9E8D57 * c[2]
                c = [b >> 32 ^ c[1] ^ k[0], b & 0xFFFFFFFF, a >> 32 ^ c[3] ^ k[1], a & 0xFFFFFFFF]
                k = [(k[0] + 0x9E3779B9) & 0xFFFFFFFF, (k[1] + 0xBB67AE85) & 0xFFFFFFFF]
            self.words = c
            self.counter[0] += 1
        return self.words.pop(0)

    def below(self, n):
        while True:
            m = self.u32() * n
            if m & 0xFFFFFFFF >= (2**32 - n) % n:
                return m >> 32

    def shuffle(self, n):
        """0 to n - 1 in random order (spot_rng_shuffle)"""
        order = []
        for i in range(n):
            j = self.below(i + 1)
            order.append(order[j] if j < i else i)
            order[j] = i
        return order
