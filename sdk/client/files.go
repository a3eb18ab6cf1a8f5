package client

import (
	"bytes"
	"context"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"net/textproto"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/server/httpapi/apitypes"
)

// Files is a handle for the files of sessions. Files is safe for concurrent use.
type Files struct{ client *Client }

// Files returns the handle for the files of sessions.
func (c *Client) Files() Files { return Files{c} }

// Upload uploads a file to the caller's session. If the session does not exist, Upload starts it.
// The content is streamed. The format of the content must match the extension of the file name. If
// the name has an extension, mediaType can be "".
func (h Files) Upload(ctx context.Context, caller Caller, name, mediaType string, content io.Reader) (*apitypes.File, error) {
	r := newRequest(http.MethodPost, "sessions", caller.Session, "files").set("user_id", caller.User)
	var err error
	if r.stream, r.media, err = form(name, mediaType, content); err != nil {
		return nil, err
	}
	return fetch[apitypes.File](ctx, h.client, r)
}

// form returns the body of an upload (RFC 7578) and its media type.
func form(name, mediaType string, content io.Reader) (io.Reader, string, error) {
	disposition := mime.FormatMediaType("form-data", map[string]string{"name": "file", "filename": name})
	if name == "" || disposition == "" {
		return nil, "", mistake("%q is not a valid file name", name)
	}
	head := textproto.MIMEHeader{"Content-Disposition": {disposition}, "Content-Type": {"application/octet-stream"}}
	if mediaType != "" {
		parsed, params, err := mime.ParseMediaType(mediaType)
		if err != nil {
			return nil, "", mistake("%q is not a valid media type", mediaType)
		}
		head.Set("Content-Type", mime.FormatMediaType(parsed, params))
	}
	var b bytes.Buffer
	w := multipart.NewWriter(&b)
	if _, err := w.CreatePart(head); err != nil {
		return nil, "", err // writing to a buffer never fails
	}
	before := bytes.Clone(b.Bytes())
	b.Reset()
	if err := w.Close(); err != nil {
		return nil, "", err
	}
	return io.MultiReader(bytes.NewReader(before), content, &b), w.FormDataContentType(), nil
}

// List lists the files of the caller's session.
func (h Files) List(ctx context.Context, caller Caller) ([]apitypes.File, error) {
	r := newRequest(http.MethodGet, "sessions", caller.Session, "files").set("user_id", caller.User)
	return items(fetch[apitypes.List[apitypes.File]](ctx, h.client, r))
}

// Change changes a file of the caller's session.
func (h Files) Change(ctx context.Context, caller Caller, id string, change apitypes.FileChange) (*apitypes.File, error) {
	r := newRequest(http.MethodPatch, "sessions", caller.Session, "files", id).set("user_id", caller.User)
	return fetchWith[apitypes.File](ctx, h.client, r, change)
}

// Delete removes a file of the caller's session and returns the description of the file.
func (h Files) Delete(ctx context.Context, caller Caller, id string) (*apitypes.File, error) {
	return fetch[apitypes.File](ctx, h.client, newRequest(http.MethodDelete, "sessions", caller.Session, "files", id).set("user_id", caller.User))
}

// Download is a reader for the content of a file. The caller must close the Download.
type Download struct {
	io.ReadCloser
	// Name is the name with which the file was uploaded. The name is untrusted: do not use it as a
	// path.
	Name string
	// MediaType is the media type of the file.
	MediaType string
}

// Download downloads a file of the caller's session. The content of the file is streamed from the
// network. If ctx ends, reading from the Download fails.
func (h Files) Download(ctx context.Context, caller Caller, id string) (*Download, error) {
	response, err := h.client.send(ctx, newRequest(http.MethodGet, "sessions", caller.Session, "files", id).set("user_id", caller.User))
	if err != nil {
		return nil, err
	}
	_, params, err := mime.ParseMediaType(response.Header.Get("Content-Disposition"))
	if err != nil {
		response.Body.Close()
		f := abi.Faultf(abi.Unavailable, "the response is not a file from a toolrun service")
		return nil, &Error{Fault: f, Status: response.StatusCode, cause: err}
	}
	body := struct {
		io.Reader
		io.Closer
	}{&bounded{response.Body, maxAnswerBytes}, response.Body}
	return &Download{ReadCloser: body, Name: params["filename"], MediaType: response.Header.Get("Content-Type")}, nil
}
