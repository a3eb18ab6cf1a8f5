package extract_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/japanese"
	"golang.org/x/text/encoding/korean"
	"golang.org/x/text/encoding/simplifiedchinese"
	"golang.org/x/text/encoding/traditionalchinese"
	"golang.org/x/text/encoding/unicode"

	"github.com/toolrun/toolrun/host/extract"
)

// These texts are as long as typical files.
const (
	french         = "Le café est fermé jusqu'à la fin de l'été. Veuillez vous adresser à la réception, où l'on vous répondra dès que possible."
	german         = "Größe und Länge der Straße: über fünfzig Meter. Die Gäste müssen früh aufstehen, weil der Zug um sieben Uhr fährt."
	prices         = "Name;Straße;Preis\r\nMüller;Hauptstraße 5;12,50 €\r\nJosé;Calle Ñandú;7 €\r\n"
	russian        = "Добрый день! Ваш заказ отправлен сегодня утром и будет доставлен завтра после обеда. Спасибо за покупку."
	greek          = "Καλημέρα σας. Η παραγγελία σας έχει αποσταλεί και θα φτάσει αύριο το πρωί. Ευχαριστούμε πολύ για την προτίμηση."
	japaneseLetter = "本日はご注文いただきありがとうございます。商品は明日の午前中にお届けする予定です。よろしくお願いいたします。"
	chinese        = "您好，您的订单已经发货，预计明天上午送达。如果您有任何问题，请随时与我们的客户服务中心联系，谢谢您的支持。"
	taiwan         = "您好，您的訂單已經出貨，預計明天上午送達。如果您有任何問題，請隨時與我們的客戶服務中心聯絡，謝謝您的支持。"
	koreanLetter   = "안녕하세요. 고객님의 주문이 오늘 발송되었으며 내일 오전에 도착할 예정입니다. 이용해 주셔서 감사합니다."
	polish         = "Zażółć gęślą jaźń. Twoje zamówienie zostało wysłane dziś rano i dotrze jutro po południu. Dziękujemy za zakupy."
)

func TestEncodings(t *testing.T) {
	utf16 := func(order unicode.Endianness, mark unicode.BOMPolicy) encoding.Encoding {
		return unicode.UTF16(order, mark)
	}
	for _, c := range []struct {
		name, text string
		in         encoding.Encoding
	}{
		{"a word in Latin-1", "café", charmap.ISO8859_1},
		{"French in Latin-1", french, charmap.ISO8859_1},
		{"German in Windows-1252", german, charmap.Windows1252},
		{"a table in Windows-1252", prices, charmap.Windows1252},
		{"Polish in Windows-1250", polish, charmap.Windows1250},
		{"Russian in Windows-1251", russian, charmap.Windows1251},
		{"Russian in KOI8-R", russian, charmap.KOI8R},
		{"Greek in Windows-1253", greek, charmap.Windows1253},
		{"Japanese in Shift_JIS", japaneseLetter, japanese.ShiftJIS},
		{"Japanese in EUC-JP", japaneseLetter, japanese.EUCJP},
		{"Chinese in GB18030", chinese, simplifiedchinese.GB18030},
		{"Chinese in Big5", taiwan, traditionalchinese.Big5},
		{"Korean in EUC-KR", koreanLetter, korean.EUCKR},
		{"Czech in ISO-8859-2", "Příliš žluťoučký kůň úpěl ďábelské ódy, a to už podruhé za týden.", charmap.ISO8859_2},
		{"Turkish in Windows-1254", "Siparişiniz bugün gönderildi, yarın öğleden sonra teslim edilecektir.", charmap.Windows1254},
		{"Hebrew in Windows-1255", "שלום רב, ההזמנה שלך נשלחה היום ותגיע מחר בבוקר", charmap.Windows1255},
		{"Arabic in Windows-1256", "مرحبا، تم إرسال طلبك اليوم وسوف يصل غدا صباحا", charmap.Windows1256},
		{"Icelandic in Windows-1252", "Pöntunin þín var send í morgun og kemur á morgun eftir hádegi, með þökkum fyrir viðskiptin.", charmap.Windows1252},
		{"quotes in Windows-1252", "It’s “quoted” – isn’t it? 5 € for l’été …", charmap.Windows1252},
		{"a greeting in Shift_JIS", "こんにちは", japanese.ShiftJIS},
		{"a city in GB18030", "北京市海淀区", simplifiedchinese.GB18030},
		{"UTF-16 with a mark", german, utf16(unicode.LittleEndian, unicode.UseBOM)},
		{"UTF-16, little, no mark", german, utf16(unicode.LittleEndian, unicode.IgnoreBOM)},
		{"UTF-16, big, no mark", prices, utf16(unicode.BigEndian, unicode.IgnoreBOM)},
		{"Russian in UTF-16, no mark", russian, utf16(unicode.LittleEndian, unicode.IgnoreBOM)},
	} {
		data, err := c.in.NewEncoder().String(c.text)
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		if _, _, err := extract.Identify("a.txt", "text/plain", []byte(data)); err != nil {
			t.Errorf("%s: Identify = %v", c.name, err)
		}
		got, err := run(t, "txt", []byte(data), 0)
		if err != nil || got.Text != c.text || got.Truncated || got.Reason != "" {
			t.Errorf("%s: Read = %q, %q, %v; want %q", c.name, got.Text, got.Reason, err, c.text)
		}
	}
}

// TestEncodedFormats reads text formats in legacy encodings.
func TestEncodedFormats(t *testing.T) {
	for name, content := range map[string]string{
		"a.csv": prices, "a.html": "<p>" + german + "</p>", "a.json": `{"text": "` + french + `"}`, "a.txt": french,
	} {
		data, err := charmap.Windows1252.NewEncoder().String(content)
		if err != nil {
			t.Fatal(err)
		}
		format, _, err := extract.Identify(name, "", []byte(data))
		if err != nil {
			t.Errorf("Identify(%s) = %v", name, err)
			continue
		}
		got, err := run(t, format.Name, []byte(data), 0)
		if want := (extract.Text{Text: content}); format.Extracts && (err != nil || got != want) {
			t.Errorf("%s: Read = %+v, %v; want %+v", name, got, err, want)
		}
	}
	got, err := run(t, "json", []byte("\xFF\xFE{\x00}\x00"), 0)
	if err != nil || got.Text != "{}" {
		t.Errorf("JSON in UTF-16: Read = %+v, %v", got, err)
	}
}

// TestDamagedUTF8 reads a long UTF-8 text that contains one invalid byte.
func TestDamagedUTF8(t *testing.T) {
	data := russian + "\xFF" + russian
	got, err := run(t, "txt", []byte(data), 0)
	if err != nil || got.Text != strings.ToValidUTF8(data, "\uFFFD") {
		t.Errorf("Read = %+v, %v; want the damaged byte replaced", got, err)
	}
}

// FuzzText reads texts in any encoding.
func FuzzText(f *testing.F) {
	for _, seed := range []string{french, "caf\xE9", "\xFF\xFEa\x00", "a\x00b\x00", "\x82\xB1\x82\xF1", "\x1B$B", "\x84\x31\xA4"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, format := range []string{"txt", "json"} {
			got, err := run(t, format, data, 100)
			if err != nil || (got.Text == "") != (got.Reason != "") || len(got.Text) > 100 || !utf8.ValidString(got.Text) {
				t.Errorf("%s: Read = %+v, %v; want text or a reason", format, got, err)
			}
		}
	})
}
