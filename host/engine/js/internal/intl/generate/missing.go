package main

import "strings"

// missing contains CLDR locales that the ICU version of Node 20 does not contain, or for which this
// version uses another locale.
var missing = strings.Fields(`
	aa aa-DJ aa-ER aa-ET ab ab-GE an an-ES ann ann-NG apc apc-SY arn arn-CL az-Arab az-Arab-IQ az-Arab-IR
	az-Arab-TR bal bal-Arab bal-Arab-PK bal-Latn bal-Latn-PK be-tarask bew bew-ID bgn bgn-AE bgn-AF bgn-IR bgn-OM
	bgn-PK blt blt-VN bm-Nkoo bm-Nkoo-ML bqi bqi-IR bss bss-CM byn byn-ER ca-ES-valencia cad cad-US cch cch-NG cho
	cho-US cic cic-US co co-FR cop cop-EG cu cu-RU dv dv-MV el-polyton en-Dsrt en-Dsrt-US en-Shaw en-Shaw-GB frr
	frr-DE gez gez-ER gez-ET gn gn-PY ha-Arab ha-Arab-NG ha-Arab-SD hnj hnj-Hmnp hnj-Hmnp-US ht ht-HT io io-001 iu
	iu-CA iu-Latn iu-Latn-CA jbo jbo-001 kaa kaa-Cyrl kaa-Cyrl-UZ kaa-Latn kaa-Latn-UZ kaj kaj-NG kcg kcg-NG kek
	kek-GT ken ken-CM kpe kpe-GN kpe-LR ku-Arab ku-Arab-IQ ku-Arab-IR la la-VA lag lag-TZ lkt lkt-US lld lld-IT
	ltg ltg-LV lzz lzz-TR mdf mdf-RU mgo mgo-CM mhn mhn-IT mic mic-CA mn-Mong mn-Mong-CN mn-Mong-MN mni-Mtei
	mni-Mtei-IN moh moh-CA ms-Arab ms-Arab-BN ms-Arab-MY mus mus-US mww mww-Hmnp mww-Hmnp-US myv myv-RU nb-NO
	nb-SJ nr nr-ZA nv nv-US ny ny-MW oka oka-CA oka-US osa osa-US pap pap-AW pap-CW pi pi-Latn pi-Latn-GB pis
	pis-SB quc quc-GT rhg rhg-Rohg rhg-Rohg-BD rhg-Rohg-MM rif rif-MA sat-Deva sat-Deva-IN sdh sdh-IQ sdh-IR sgs
	sgs-LT sid sid-ET skr skr-PK sma sma-NO sma-SE smj smj-NO smj-SE sms sms-FI ss ss-SZ ss-ZA ssy ssy-ER suz
	suz-Deva suz-Deva-NP suz-Sunu suz-Sunu-NP tig tig-ER tpi tpi-PG trv trv-TW trw trw-PK ts ts-ZA und ve ve-ZA vo
	vo-001 wa wa-BE wal wal-ET wbp wbp-AU za za-CN zh-Latn zh-Latn-CN`)

// differing contains locales for which ICU's data differs from CLDR's JSON files. Such locales are
// omitted. The child locales of en-150 are also omitted.
var differing = strings.Fields("en-150 fr-ML pt-CV sr-Cyrl-ME")
