"""XML: built, searched, namespaces, changed, written; errors with their places."""

import xml.etree.ElementTree as ET
from xml.dom import minidom
from xml.sax.saxutils import escape, quoteattr

TEXT = """<?xml version="1.0"?>
<shop xmlns:p="urn:price"><!-- stock -->
  <item id="1" kind="pen"><name>Pen &amp; ink</name><p:price cur="EUR">1.50</p:price></item>
  <item id="2"><name>Paper</name><p:price>3</p:price></item>
</shop>"""


def main():
    root = ET.fromstring(TEXT)
    names = {"p": "urn:price"}
    prices = {item.findtext("name"): float(item.find("p:price", names).text) for item in root.iter("item")}
    root.find("./item[@id='2']").set("kind", "paper")
    ET.SubElement(root, "total").text = str(sum(prices.values()))
    for item in root.findall("item[name='Paper']"):
        item.remove(item.find("name"))
    ET.register_namespace("pr", "urn:price")
    ET.indent(root, " ")
    try:
        ET.fromstring("<a>\n<b></a>")
    except ET.ParseError as error:
        broken = [str(error), error.position]
    parser = ET.XMLPullParser(["start", "end"])
    parser.feed("<a><b>x")
    first = [(event, node.tag) for event, node in parser.read_events()]
    parser.feed("</b></a>")
    dom = minidom.parseString("<a><b c='1'/>t</a>")
    return {
        "prices": prices,
        "written": ET.tostring(root, "unicode"),
        "found": [node.tag for node in root.findall(".//*[@cur]")],
        "broken": broken,
        "pulled": first + [(event, node.tag) for event, node in parser.read_events()],
        "dom": [dom.documentElement.firstChild.getAttribute("c"), dom.toxml()],
        "canonical": ET.canonicalize("<a z='1' b='2'><c/></a>"),
        "escaped": [escape("<&>"), quoteattr('"x"')],
    }
