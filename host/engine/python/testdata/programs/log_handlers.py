"""logging: loggers in a tree, levels, filters, formats, a handler that collects."""

import io
import logging


class Keep(logging.Handler):
    def __init__(self):
        super().__init__(logging.WARNING)
        self.records = []

    def emit(self, record):
        self.records.append([record.levelname, record.getMessage(), getattr(record, "user", None)])


class Secret(logging.Filter):
    def filter(self, record):
        record.msg = str(record.msg).replace("hunter2", "***")
        return "drop" not in record.msg


def main():
    out, keep = io.StringIO(), Keep()
    logger = logging.getLogger("shop.cart")
    logger.setLevel(logging.DEBUG)
    logger.propagate = False
    stream = logging.StreamHandler(out)
    stream.setFormatter(logging.Formatter("{levelname:<8}{name}:{funcName} {message}", style="{"))
    logger.addHandler(stream), logger.addHandler(keep), logger.addFilter(Secret())
    logger.debug("added %d of %s", 3, "pen")
    logger.warning("password hunter2", extra={"user": "ann"})
    logger.error("drop this")
    child = logging.getLogger("shop.cart.tax")
    child.info("%(rate).1f%%", {"rate": 19})
    try:
        [][0]
    except IndexError:
        child.exception("oh")
    adapter = logging.LoggerAdapter(logger, {"user": "bob"})
    adapter.critical("stop")
    text = [
        line for line in out.getvalue().splitlines() if "File" not in line and "^" not in line and "[][0]" not in line
    ]
    return [text, keep.records, child.getEffectiveLevel(), logger.isEnabledFor(5), logging.getLevelName(35)]
