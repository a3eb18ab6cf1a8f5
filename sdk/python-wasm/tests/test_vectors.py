"""The double answers what the host answers."""

import unittest

from tests import vectors


class Vectors(unittest.TestCase):
    def test_vectors(self):
        for vector in vectors.read():
            with self.subTest(vector["name"]):
                self.assertEqual(vectors.play(vector), [])


if __name__ == "__main__":
    unittest.main()
