"""argparse without a command line: subcommands, choices, errors."""

import argparse


class Parser(argparse.ArgumentParser):
    def error(self, message):
        raise ValueError(message)


def build():
    parser = Parser(prog="shop", add_help=False)
    parser.add_argument("-v", "--verbose", action="count", default=0)
    commands = parser.add_subparsers(dest="command", required=True)
    buy = commands.add_parser("buy", add_help=False)
    buy.add_argument("item")
    buy.add_argument("--count", type=int, default=1)
    buy.add_argument("--tag", action="append")
    group = buy.add_mutually_exclusive_group()
    group.add_argument("--cash", action="store_const", const="cash", dest="pay")
    group.add_argument("--pay", choices=["card", "bill"])
    return parser


def parse(line):
    try:
        return vars(build().parse_args(line.split()))
    except ValueError as error:
        return str(error)


def main():
    lines = [
        "-vv buy pen --count 3 --tag a --tag=b",
        "buy ink --cash",
        "buy",
        "buy x --count y",
        "buy x --cash --pay card",
        "",
    ]
    return [{line: parse(line) for line in lines}, build().format_usage()]
