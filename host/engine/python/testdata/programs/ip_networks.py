"""Addresses and networks: which contains which, subnets, sums of ranges."""

import ipaddress

net = ipaddress.ip_network("10.20.0.0/22")
six = ipaddress.ip_address("2001:db8::ff00:42:8329")
first, last = ipaddress.ip_address("192.0.2.3"), ipaddress.ip_address("192.0.2.17")
try:
    ipaddress.ip_network("10.0.0.1/8")
except ValueError as error:
    refused = str(error)
return {
    "net": [
        str(net.netmask),
        net.num_addresses,
        str(net.broadcast_address),
        [str(part) for part in net.subnets(new_prefix=24)],
    ],
    "hosts": [str(host) for host in ipaddress.ip_network("10.0.0.8/29").hosts()],
    "inside": [
        ipaddress.ip_address("10.20.3.255") in net,
        ipaddress.ip_address("10.20.4.0") in net,
        net.overlaps(ipaddress.ip_network("10.20.2.0/30")),
    ],
    "six": [
        six.exploded,
        six.compressed,
        six.is_global,
        six.reverse_pointer,
        str(ipaddress.ip_address("::ffff:1.2.3.4").ipv4_mapped),
    ],
    "ranges": [str(part) for part in ipaddress.summarize_address_range(first, last)],
    "collapsed": [
        str(part)
        for part in ipaddress.collapse_addresses(
            map(ipaddress.ip_network, ["10.0.0.0/25", "10.0.0.128/25", "10.0.1.0/24"])
        )
    ],
    "kinds": [ipaddress.ip_address(text).is_private for text in ("192.168.1.1", "8.8.8.8", "127.0.0.1", "::1")],
    "sorted": [str(a) for a in sorted(map(ipaddress.ip_address, ["10.0.0.10", "10.0.0.9", "9.255.0.0"]))],
    "refused": refused,
    "interface": [str(ipaddress.ip_interface("10.1.2.3/16").network), int(first), str(first + 300)],
}
