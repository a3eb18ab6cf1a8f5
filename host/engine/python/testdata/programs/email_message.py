"""A mail with text, HTML and an attachment: made, written, read again."""

from email import message_from_string, policy
from email.headerregistry import Address
from email.message import EmailMessage


def main():
    mail = EmailMessage(policy=policy.SMTP)
    mail["Subject"] = "Grüße aus Köln"
    mail["From"] = Address("Jörg Müller", "joerg", "example.com")
    mail["To"] = "ann@example.com, Bob <bob@example.com>"
    mail.set_content("Hello,\nthis is täglich.\n")
    mail.add_alternative("<p>Hello</p>", subtype="html")
    mail.add_attachment(b"\x00\x01binary", maintype="application", subtype="octet-stream", filename="data.bin")
    for part in mail.walk():
        if part.is_multipart():
            part.set_boundary(f"==={part.get_content_subtype()}===")
    text = mail.as_string()
    back = message_from_string(text, policy=policy.default)
    return {
        "text": text.splitlines(),
        "subject": back["subject"],
        "to": [address.addr_spec for address in back["to"].addresses],
        "body": back.get_body(("plain",)).get_content(),
        "files": [(part.get_filename(), part.get_content().hex()) for part in back.iter_attachments()],
        "types": [part.get_content_type() for part in back.walk()],
    }
