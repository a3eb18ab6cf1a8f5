package intl

import (
	"strconv"
	"strings"
	"sync"
	"time"
)

// differing groups the zones for which the data of Go differs from the data of Node, by the last
// year in which it differs. For the zones in differing, Go's data uses the history of a neighboring
// zone. TestZonesAsNode reports zones that are missing in differing.
const differing = `1883 Europe/Isle_of_Man
1894 Europe/Vaduz
1900 Asia/Kuala_Lumpur Pacific/Funafuti Pacific/Wake Pacific/Wallis
1908 Africa/Bujumbura Africa/Harare Africa/Lusaka
1911 Africa/Lome Africa/Ouagadougou
1912 America/Cayman
1918 Europe/Luxembourg
1919 Africa/Bangui Africa/Brazzaville Africa/Douala Africa/Kinshasa Africa/Libreville Africa/Luanda
1919 Asia/Muscat Indian/Mahe Indian/Reunion
1920 Africa/Lubumbashi Indian/Christmas
1925 Africa/Blantyre
1934 Africa/Porto-Novo
1935 Africa/Kigali
1941 Africa/Dakar Africa/Freetown
1942 Africa/Addis_Ababa Africa/Banjul Africa/Djibouti America/Blanc-Sablon Europe/Monaco Indian/Comoro
1942 Indian/Mayotte
1943 Africa/Maseru Asia/Bahrain
1944 Africa/Gaborone Africa/Mbabane Europe/Guernsey Europe/Jersey Pacific/Saipan
1945 America/Anguilla America/Dominica America/Grenada America/Guadeloupe America/Montserrat
1945 America/Port_of_Spain America/St_Kitts America/St_Lucia America/St_Thomas America/St_Vincent America/Tortola
1945 Asia/Brunei Asia/Phnom_Penh Europe/Ljubljana Europe/Sarajevo Europe/Skopje Europe/Zagreb Indian/Cocos
1946 Europe/Amsterdam
1949 Asia/Aden Asia/Kuwait Europe/Copenhagen Europe/Stockholm
1950 America/Antigua Atlantic/St_Helena
1954 Indian/Antananarivo
1955 Africa/Accra Antarctica/McMurdo Asia/Vientiane
1956 Africa/Kampala Africa/Mogadishu Antarctica/DumontDUrville Pacific/Midway
1957 Antarctica/Syowa
1959 Africa/Conakry Africa/Niamey Indian/Kerguelen
1960 Africa/Bamako Africa/Dar_es_Salaam Africa/Nouakchott
1963 Africa/Malabo America/Nassau
1964 America/Aruba America/Curacao
1965 Europe/Oslo
1967 America/Creston
1968 Atlantic/Reykjavik
1969 Pacific/Majuro
1975 America/Tijuana`

var differsUntil = sync.OnceValue(func() map[string]int {
	until := map[string]int{}
	for _, line := range strings.Split(differing, "\n") {
		fields := strings.Fields(line)
		year, _ := strconv.Atoi(fields[0])
		for _, name := range fields[1:] {
			until[name] = year
		}
	}
	return until
})

// check returns an error if Node may use a different offset for the zone at a given time.
func (z zone) check(t time.Time) error {
	if t.Year() > lastDiffering {
		return nil
	}
	if year, ok := differsUntil()[z.cldr]; ok && t.Year() <= year {
		return unsupported("the year "+strconv.Itoa(t.Year())+" in the time zone "+z.cldr, `use the time zone "UTC"`)
	}
	return nil
}

// lastDiffering is the last year in the variable "differing".
const lastDiffering = 1975
