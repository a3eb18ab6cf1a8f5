/* A minimal JSON reader and writer (RFC 8259). The reader finds values in a document without
 * building a tree. No function is recursive, so a deeply nested document cannot overflow the
 * stack. */
#include "toolrun.h"

/* ---- Raw texts ---- */

static bool is_space(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

static toolrun_text drop(toolrun_text text, size_t n) {
    if (n > text.len) {
        n = text.len;
    }
    return toolrun_make_text(text.ptr + n, text.len - n);
}

static toolrun_text trim(toolrun_text text) {
    while (text.len > 0 && is_space(text.ptr[0])) {
        text = drop(text, 1);
    }
    while (text.len > 0 && is_space(text.ptr[text.len - 1])) {
        text.len--;
    }
    return text;
}

static bool starts(toolrun_text text, char c) { return text.len > 0 && text.ptr[0] == c; }

/* string_size returns the length of the string at the beginning of the text, including its
 * quotes. */
static size_t string_size(toolrun_text text) {
    for (size_t i = 1; i < text.len; i++) {
        if (text.ptr[i] == '\\') {
            i++;
        } else if (text.ptr[i] == '"') {
            return i + 1;
        }
    }
    return text.len;
}

/* value_size returns the length of the value at the beginning of the text. It ends before a comma
 * or a closing bracket that is not part of the value. */
static size_t value_size(toolrun_text text) {
    size_t depth = 0;
    for (size_t i = 0; i < text.len; i++) {
        switch (text.ptr[i]) {
        case '"':
            i += string_size(drop(text, i)) - 1;
            break;
        case '{':
        case '[':
            depth++;
            break;
        case '}':
        case ']':
            if (depth == 0) {
                return i;
            }
            depth--;
            break;
        case ',':
            if (depth == 0) {
                return i;
            }
            break;
        }
    }
    return text.len;
}

toolrun_walk toolrun_walk_of(toolrun_text json) {
    toolrun_walk walk = {TOOLRUN_ABSENT, TOOLRUN_ABSENT, TOOLRUN_ABSENT};
    json = trim(json);
    if (starts(json, '{') || starts(json, '[')) {
        walk.rest = json;
    }
    return walk;
}

/* walk->rest begins with the opening bracket, or with the comma before the next value. If there
 * is a name before a colon, the value is a member of an object. */
bool toolrun_next(toolrun_walk *walk) {
    toolrun_text rest = trim(drop(walk->rest, 1));
    if (rest.len == 0 || starts(rest, '}') || starts(rest, ']')) {
        return false;
    }
    walk->name = TOOLRUN_ABSENT;
    if (starts(rest, '"')) {
        size_t size = string_size(rest);
        toolrun_text after = trim(drop(rest, size));
        if (starts(after, ':')) {
            walk->name = toolrun_make_text(rest.ptr, size);
            rest = trim(drop(after, 1));
        }
    }
    size_t size = value_size(rest);
    walk->value = trim(toolrun_make_text(rest.ptr, size));
    walk->rest = drop(rest, size);
    return true;
}

toolrun_text toolrun_member(toolrun_text object, toolrun_text name) {
    toolrun_text found = TOOLRUN_ABSENT;
    toolrun_walk walk = toolrun_walk_of(object);
    while (toolrun_next(&walk)) {
        if (walk.name.ptr != NULL && toolrun_equal(toolrun_string(walk.name), name)) {
            found = walk.value;
        }
    }
    return found;
}

bool toolrun_is_true(toolrun_text json) { return toolrun_equal(trim(json), TOOLRUN_TEXT("true")); }

bool toolrun_is_null(toolrun_text json) {
    return json.ptr == NULL || toolrun_equal(trim(json), TOOLRUN_TEXT("null"));
}

/* ---- Strings ---- */

enum { REPLACEMENT = 0xFFFD };

/* hex4 reads the four digits of a \u escape. hex4 returns -1 if they are not hexadecimal digits. */
static int32_t hex4(toolrun_text text) {
    int32_t code = 0;
    if (text.len < 4) {
        return -1;
    }
    for (size_t i = 0; i < 4; i++) {
        char c = text.ptr[i];
        int32_t digit = c >= '0' && c <= '9'   ? c - '0'
                        : c >= 'a' && c <= 'f' ? c - 'a' + 10
                        : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                               : -1;
        if (digit < 0) {
            return -1;
        }
        code = code * 16 + digit;
    }
    return code;
}

/* unicode decodes a \u escape, or the two escapes of a surrogate pair. It sets the number of
 * bytes that it has read. */
static int32_t unicode(toolrun_text escape, size_t *size) {
    int32_t high = hex4(drop(escape, 2));
    *size = high < 0 ? 2 : 6;
    if (high < 0xD800 || high > 0xDFFF) {
        return high < 0 ? REPLACEMENT : high;
    }
    toolrun_text second = drop(escape, 6);
    int32_t low = starts(second, '\\') && starts(drop(second, 1), 'u') ? hex4(drop(second, 2)) : -1;
    if (high > 0xDBFF || low < 0xDC00 || low > 0xDFFF) {
        return REPLACEMENT;
    }
    *size = 12;
    return 0x10000 + ((high - 0xD800) << 10) + (low - 0xDC00);
}

static size_t put_utf8(char *out, int32_t code) {
    if (code < 0x80) {
        out[0] = (char)code;
        return 1;
    }
    if (code < 0x800) {
        out[0] = (char)(0xC0 | code >> 6);
        out[1] = (char)(0x80 | (code & 0x3F));
        return 2;
    }
    if (code < 0x10000) {
        out[0] = (char)(0xE0 | code >> 12);
        out[1] = (char)(0x80 | (code >> 6 & 0x3F));
        out[2] = (char)(0x80 | (code & 0x3F));
        return 3;
    }
    out[0] = (char)(0xF0 | code >> 18);
    out[1] = (char)(0x80 | (code >> 12 & 0x3F));
    out[2] = (char)(0x80 | (code >> 6 & 0x3F));
    out[3] = (char)(0x80 | (code & 0x3F));
    return 4;
}

static char unescape(char c) {
    switch (c) {
    case 'b':
        return '\b';
    case 'f':
        return '\f';
    case 'n':
        return '\n';
    case 'r':
        return '\r';
    case 't':
        return '\t';
    }
    return c;
}

static bool has_escape(toolrun_text text) {
    for (size_t i = 0; i < text.len; i++) {
        if (text.ptr[i] == '\\') {
            return true;
        }
    }
    return false;
}

toolrun_text toolrun_string(toolrun_text json) {
    json = trim(json);
    if (json.len < 2 || !starts(json, '"') || string_size(json) != json.len) {
        return TOOLRUN_ABSENT;
    }
    toolrun_text raw = toolrun_make_text(json.ptr + 1, json.len - 2);
    if (!has_escape(raw)) {
        return raw;
    }
    /* Decoding never makes an escape longer, except for \u without digits: it becomes three bytes
     * from two. */
    char *out = toolrun_alloc(raw.len * 2);
    size_t len = 0;
    while (raw.len > 0) {
        size_t size = 1;
        if (raw.len < 2 || raw.ptr[0] != '\\') {
            out[len++] = raw.ptr[0];
        } else if (raw.ptr[1] == 'u') {
            len += put_utf8(out + len, unicode(raw, &size));
        } else {
            out[len++] = unescape(raw.ptr[1]);
            size = 2;
        }
        raw = drop(raw, size);
    }
    return toolrun_make_text(out, len);
}

/* ---- Numbers ---- */

/* A decimal is a number without a decimal point: digits * 10^scale. */
typedef struct {
    uint64_t digits;
    int64_t scale;
} decimal;

/* times_ten returns false if the digits overflow. The overflow builtins for 64 bits would need a
 * library. */
static bool times_ten(decimal *number) {
    if (number->digits > UINT64_MAX / 10) {
        return false;
    }
    number->digits *= 10;
    return true;
}

/* add_digit adds a digit. add_digit counts trailing zeros in the scale until another digit follows,
 * so 1.000 and 1e3 need few digits. add_digit returns false if the digits overflow. */
static bool add_digit(decimal *number, unsigned digit) {
    if (digit == 0) {
        number->scale++;
        return true;
    }
    if (number->digits == 0) {
        number->scale = 0;
    }
    for (; number->scale > 0; number->scale--) {
        if (!times_ten(number)) {
            return false;
        }
    }
    if (!times_ten(number) || number->digits > UINT64_MAX - digit) {
        return false;
    }
    number->digits += digit;
    return true;
}

/* take_digits reads digits into the number and returns their count. It returns -1 if there are
 * no digits or if they overflow. */
static int64_t take_digits(toolrun_text *text, decimal *number) {
    int64_t count = 0;
    for (; text->len > 0 && text->ptr[0] >= '0' && text->ptr[0] <= '9'; *text = drop(*text, 1)) {
        if (!add_digit(number, (unsigned)(text->ptr[0] - '0'))) {
            return -1;
        }
        count++;
    }
    return count > 0 ? count : -1;
}

static bool take(toolrun_text *text, char c) {
    if (!starts(*text, c)) {
        return false;
    }
    *text = drop(*text, 1);
    return true;
}

/* spread multiplies the digits by the power of ten. It returns false if the number is not an
 * integer or overflows. */
static bool spread(decimal *number) {
    for (; number->digits != 0 && number->scale > 0; number->scale--) {
        if (!times_ten(number)) {
            return false;
        }
    }
    return number->digits == 0 || number->scale == 0;
}

static bool take_exponent(toolrun_text *text, int64_t *exponent) {
    decimal power = {0, 0};
    bool negative = take(text, '-');
    if (!negative) {
        take(text, '+');
    }
    if (take_digits(text, &power) < 0 || !spread(&power) || power.digits > 1000000) {
        return false;
    }
    *exponent = negative ? -(int64_t)power.digits : (int64_t)power.digits;
    return true;
}

bool toolrun_int(toolrun_text json, int64_t *value) {
    decimal number = {0, 0};
    int64_t fraction = 0, exponent = 0;
    json = trim(json);
    bool negative = take(&json, '-');
    if (take_digits(&json, &number) < 0) {
        return false;
    }
    if (take(&json, '.') && (fraction = take_digits(&json, &number)) < 0) {
        return false;
    }
    if ((take(&json, 'e') || take(&json, 'E')) && !take_exponent(&json, &exponent)) {
        return false;
    }
    number.scale += exponent - fraction;
    if (json.len > 0 || !spread(&number) || number.digits > (uint64_t)INT64_MAX + negative) {
        return false;
    }
    *value = negative ? (int64_t)(0 - number.digits) : (int64_t)number.digits;
    return true;
}

/* ---- Writing ---- */

void toolrun_put(toolrun_buffer *out, toolrun_text raw) {
    if (raw.len > out->capacity - out->text.len) {
        size_t capacity = out->text.len + raw.len;
        capacity += capacity < INT32_MAX / 2 ? capacity : 0;
        char *space = toolrun_alloc(capacity);
        if (out->text.len > 0) {
            __builtin_memcpy(space, out->text.ptr, out->text.len);
        }
        out->space = space;
        out->capacity = capacity;
    }
    if (raw.len > 0) {
        __builtin_memcpy(out->space + out->text.len, raw.ptr, raw.len);
    }
    out->text = toolrun_make_text(out->space, out->text.len + raw.len);
}

static void put_escaped(toolrun_buffer *out, char c) {
    static const char digits[] = "0123456789abcdef";
    char escape[6] = {'\\', 'u', '0', '0', digits[c >> 4 & 15], digits[c & 15]};
    if (c == '"' || c == '\\') {
        escape[1] = c;
        toolrun_put(out, toolrun_make_text(escape, 2));
        return;
    }
    toolrun_put(out, toolrun_make_text(escape, sizeof escape));
}

void toolrun_put_string(toolrun_buffer *out, toolrun_text string) {
    size_t done = 0;
    TOOLRUN_PUT(out, "\"");
    for (size_t i = 0; i < string.len; i++) {
        char c = string.ptr[i];
        if ((unsigned char)c >= ' ' && c != '"' && c != '\\') {
            continue;
        }
        toolrun_put(out, toolrun_make_text(string.ptr + done, i - done));
        put_escaped(out, c);
        done = i + 1;
    }
    toolrun_put(out, toolrun_make_text(string.ptr + done, string.len - done));
    TOOLRUN_PUT(out, "\"");
}

void toolrun_put_int(toolrun_buffer *out, int64_t number) {
    char digits[20]; /* enough for the smallest number with its sign */
    size_t at = sizeof digits;
    uint64_t left = number < 0 ? 0 - (uint64_t)number : (uint64_t)number;
    do {
        digits[--at] = (char)('0' + left % 10);
        left /= 10;
    } while (left > 0);
    if (number < 0) {
        digits[--at] = '-';
    }
    toolrun_put(out, toolrun_make_text(digits + at, sizeof digits - at));
}
