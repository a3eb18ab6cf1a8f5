package httpapi

import (
	"bytes"
	"cmp"
	"context"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"strconv"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host"
	"github.com/toolrun/toolrun/host/admission"
	"github.com/toolrun/toolrun/host/artifact"
	"github.com/toolrun/toolrun/host/extract"
	"github.com/toolrun/toolrun/host/server/auth"
	"github.com/toolrun/toolrun/host/server/httpapi/apitypes"
	"github.com/toolrun/toolrun/host/server/tenants"
	"github.com/toolrun/toolrun/internal/bytesize"
	"github.com/toolrun/toolrun/internal/yield"
)

// maxUpload is the maximum size of an upload request: a file and the overhead of multipart
// encoding.
const maxUpload = artifact.MaxBytes + 1<<20

type uploadInput struct {
	apitypes.Target
	apitypes.SessionPath
	apitypes.UserQuery
	formFile
}

// formFile is the part of an input that contains the file of a form.
type formFile struct{ file upload }

var _ huma.Resolver = (*formFile)(nil)

// Resolve reads the body itself, because the framework would store the body in temporary files.
func (in *formFile) Resolve(ctx huma.Context) []error {
	r, _ := humago.Unwrap(ctx)
	var err error
	if in.file, err = readForm(r); err != nil {
		return []error{err}
	}
	return nil
}

// uploadSchema is the JSON Schema of the form in an upload request.
var uploadSchema = &huma.Schema{
	Type: "object", Required: []string{"file"},
	Properties: map[string]*huma.Schema{"file": {Type: "string", Format: "binary", Description: "The file, with its name and content type"}},
}

type fileInput struct {
	apitypes.Target
	apitypes.SessionPath
	apitypes.FilePath
	apitypes.UserQuery
}

type fileChangeInput struct {
	apitypes.Target
	apitypes.SessionPath
	apitypes.FilePath
	apitypes.UserQuery
	Body apitypes.FileChange
}

type fileOutput struct{ Body apitypes.File }

type artifactOutput struct{ Body apitypes.Artifact }

// fileHandler serves requests for the files of sessions.
type fileHandler struct {
	apps      *tenants.Apps
	links     *Links
	documents *extract.Reader
	admitted  func(context.Context)
	// uploads limits the memory for files of concurrent uploads. downloads limits the memory for
	// pieces of concurrent downloads.
	uploads, downloads *byteSemaphore
}

func newFileHandler(opts Options) *fileHandler {
	return &fileHandler{
		apps: opts.Apps, links: opts.Links, documents: opts.Documents, admitted: opts.Admitted,
		uploads: newByteSemaphore(uploadBytes, "files"), downloads: newByteSemaphore(downloadBytes, "files"),
	}
}

func (h *fileHandler) register(s *Server) {
	tags := []string{"files"}
	form := &huma.MediaType{}
	add(s, auth.Files, huma.Operation{
		OperationID: "upload-file", Method: http.MethodPost, Path: "/sessions/{session_id}/files", Tags: tags, DefaultStatus: http.StatusCreated,
		RequestBody:  &huma.RequestBody{Required: true, Content: map[string]*huma.MediaType{multipartType: form}},
		MaxBodyBytes: maxUpload, BodyReadTimeout: time.Minute, Middlewares: huma.Middlewares{h.reserveUpload}, Summary: "Upload a file to a session",
		Description: "Tools can read the text of PDF, DOCX, TXT and JSON files in `sessionMeta.artifacts`. CSV, XLS, XLSX, PPT, PPTX, HTML, RTF, PNG, JPG, GIF and BMP files " +
			"are stored without their text. The size limit is 20 MiB, and a file expires after 30 days. A file whose content contradicts its name or media type is rejected. " +
			"For a file without text, `has_text` is false and `text_reason` contains the reason: unsupported_format, disabled, no_text, encrypted, damaged, too_complex or unknown_encoding.",
	}, h.upload)
	form.Schema = uploadSchema // set after registration; otherwise the framework would read the body
	add(s, auth.Files, huma.Operation{
		OperationID: "list-files", Method: http.MethodGet, Path: "/sessions/{session_id}/files", Tags: tags, Summary: "List the files of a session",
	}, func(ctx context.Context, c *call, in *sessionInput) (*listOutput[apitypes.File], error) {
		files, err := h.list(ctx, c, in)
		return &listOutput[apitypes.File]{apitypes.List[apitypes.File]{Items: files}}, err
	})
	add(s, auth.Files, huma.Operation{
		OperationID: "change-file", Method: http.MethodPatch, Path: "/sessions/{session_id}/files/{file_id}", Tags: tags,
		Summary: "Change a file", Description: "Sets whether tools and prompts see the text of the file.",
	}, func(ctx context.Context, c *call, in *fileChangeInput) (*fileOutput, error) {
		caller, err := c.caller(ctx, in.User, in.Session)
		if err != nil {
			return nil, err
		}
		changed, err := c.host.Artifacts().SetActive(ctx, caller, in.File, in.Body.Active)
		return &fileOutput{h.shown(c, changed)}, err
	})
	add(s, auth.Files, huma.Operation{
		OperationID: "delete-file", Method: http.MethodDelete, Path: "/sessions/{session_id}/files/{file_id}", Tags: tags,
		Summary: "Delete a file", Description: "Removes the file and the text of the file, and returns the description of the file. The download URL becomes invalid.",
	}, func(ctx context.Context, c *call, in *fileInput) (*artifactOutput, error) {
		caller, err := c.caller(ctx, in.User, in.Session)
		if err != nil {
			return nil, err
		}
		removed, err := c.host.Artifacts().Remove(ctx, caller, in.File)
		return &artifactOutput{apitypes.Artifact(removed)}, err
	})
	add(s, auth.Files, huma.Operation{
		OperationID: "get-file", Method: http.MethodGet, Path: "/sessions/{session_id}/files/{file_id}", Tags: tags, Summary: "Download a file",
		Responses: map[string]*huma.Response{"200": {
			Description: "The file as it was uploaded",
			Content:     map[string]*huma.MediaType{"application/octet-stream": {Schema: &huma.Schema{Type: "string", Format: "binary"}}},
		}},
	}, h.download)
	if h.links != nil {
		s.mux.Handle("GET "+h.links.path()+"{link}", http.HandlerFunc(h.followLink))
	}
}

func (h *fileHandler) list(ctx context.Context, c *call, in *sessionInput) ([]apitypes.File, error) {
	caller, err := c.caller(ctx, in.User, in.Session)
	if err != nil {
		return nil, err
	}
	found, err := c.host.Artifacts().List(ctx, caller)
	list := []apitypes.File{}
	for _, a := range found {
		list = append(list, h.shown(c, a))
	}
	return list, err
}

func (h *fileHandler) shown(c *call, a artifact.Artifact) apitypes.File {
	f := apitypes.File{Artifact: apitypes.Artifact(a)}
	if h.links != nil {
		f.URL = h.links.Make(c.app, c.principal.Tenant, a)
	}
	return f
}

func (h *fileHandler) upload(ctx context.Context, c *call, in *uploadInput) (*fileOutput, error) {
	caller, err := c.caller(ctx, in.User, in.Session)
	if err != nil {
		return nil, err
	}
	up, format, err := in.file.identify()
	if err != nil {
		return nil, err
	}
	if err := h.addText(ctx, c, caller, format, &up); err != nil {
		return nil, err
	}
	up.Began, _ = ctx.Value(admittedKey{}).(time.Time)
	added, err := c.host.Artifacts().Add(ctx, caller, up)
	if err != nil {
		return nil, err
	}
	return &fileOutput{h.shown(c, added)}, nil
}

// addText extracts the text of a file or records why the file has no text. Before extracting text,
// addText checks whether the session may receive the file.
func (h *fileHandler) addText(ctx context.Context, c *call, caller host.Caller, format extract.Format, up *artifact.Upload) error {
	if !format.Extracts {
		up.TextReason = string(extract.UnsupportedFormat)
		return nil
	}
	if h.documents == nil {
		up.TextReason = string(extract.Disabled)
		return nil
	}
	if err := c.host.Artifacts().MayAdd(ctx, caller, len(up.Content)); err != nil {
		return err
	}
	text, err := h.documents.Read(ctx, admission.Flow{Tenant: c.principal.Tenant, App: c.app, User: uploader(c.principal, caller)}, format, up.Content)
	if err != nil {
		return err
	}
	if text.Reason != "" {
		up.TextReason = string(text.Reason)
		return nil
	}
	up.Text, up.Truncated = &text.Text, text.Truncated
	return nil
}

// uploader returns the user to whom text extraction is charged. The result is the user in the
// upload request or, if the request contains no user, the principal.
func uploader(p auth.Principal, caller host.Caller) string { return cmp.Or(caller.User, p.Name) }

// upload is a received file.
type upload struct {
	name, mediaType string
	content         []byte
}

// readForm reads a form whose only part is a file.
func readForm(r *http.Request) (up upload, err error) {
	form, err := r.MultipartReader()
	if err != nil {
		return up, badForm
	}
	found := false
	for {
		part, err := form.NextPart()
		if err == io.EOF {
			break
		}
		if err != nil {
			return up, badForm
		}
		if found || part.FormName() != "file" {
			return up, abi.Faultf(abi.InvalidArgument, "the form must have exactly one part, with the name \"file\"").WithHint("send one file in a part with the name \"file\"")
		}
		if up, err = readPart(part, r.ContentLength); err != nil {
			return up, err
		}
		found = true
	}
	if _, err := io.Copy(io.Discard, r.Body); err != nil { // the epilogue
		return up, badForm
	}
	if !found {
		return up, abi.Faultf(abi.InvalidArgument, "the form has no file").WithHint("send the file in a part with the name \"file\"")
	}
	return up, nil
}

var badForm = abi.Faultf(abi.InvalidArgument, "the body is not valid multipart/form-data (RFC 7578)")

// readPart reads a file from a form. formBytes is the length of the form, or negative if the length
// is unknown.
func readPart(part *multipart.Part, formBytes int64) (up upload, err error) {
	up = upload{name: part.FileName(), mediaType: part.Header.Get("Content-Type")}
	size := min(max(formBytes, 0), artifact.MaxBytes+1) + bytes.MinRead
	content := bytes.NewBuffer(make([]byte, 0, size)) // allocated once, because growing a buffer needs twice the memory
	if _, err = content.ReadFrom(yield.Reader(io.LimitReader(part, artifact.MaxBytes+1))); err != nil {
		return up, badForm
	}
	if content.Len() > artifact.MaxBytes {
		return up, abi.Faultf(abi.TooLarge, "the file exceeds %s", bytesize.Format(artifact.MaxBytes))
	}
	up.content = content.Bytes()
	return up, nil
}

// identify determines the format of a file.
func (u upload) identify() (up artifact.Upload, format extract.Format, err error) {
	up.Content = u.content
	if up.Filename, err = extract.CleanName(u.name); err != nil {
		return up, format, err
	}
	format, up.MediaType, err = extract.Identify(up.Filename, u.mediaType, up.Content)
	up.Type = format.Name
	return up, format, err
}

func (h *fileHandler) download(ctx context.Context, c *call, in *fileInput) (*huma.StreamResponse, error) {
	caller, err := c.caller(ctx, in.User, in.Session)
	if err != nil {
		return nil, err
	}
	files, err := c.host.Artifacts().List(ctx, caller)
	if err != nil {
		return nil, err
	}
	for _, a := range files {
		if a.ID != in.File {
			continue
		}
		d, err := h.deliver(ctx, a.Bytes, h.loading(c.principal.Tenant, c.app, a.ID), pathOf(c.principal)...)
		if err != nil {
			return nil, err
		}
		if c.principal.Role == auth.Operator {
			if err := c.host.Ledger().RecordDownload(caller, a.ID); err != nil {
				d.close()
				return nil, err
			}
		}
		return &huma.StreamResponse{Body: func(hc huma.Context) {
			_, w := humago.Unwrap(hc)
			defer d.close()
			describeFile(w, a.Filename, a.MediaType, d.bytes)
			d.send(hc.Context(), w)
		}}, nil
	}
	return nil, abi.Faultf(abi.NotFound, "the file does not exist in this session")
}

// fileHeaders returns headers that make a browser download an untrusted file instead of displaying
// it.
func fileHeaders(name, mediaType string) http.Header {
	disposition := mime.FormatMediaType("attachment", map[string]string{"filename": name})
	if disposition == "" {
		disposition = "attachment"
	}
	return http.Header{
		"Content-Type": {mediaType}, "Content-Disposition": {disposition}, "X-Content-Type-Options": {"nosniff"},
		"Content-Security-Policy": {"sandbox; default-src 'none'"}, "Cache-Control": {"private, no-store"},
	}
}

// describeFile sets the response headers for a file.
func describeFile(w http.ResponseWriter, name, mediaType string, bytes int64) {
	for name, values := range fileHeaders(name, mediaType) {
		w.Header()[name] = values
	}
	w.Header().Set("Content-Length", strconv.FormatInt(bytes, 10))
}

// followLink serves a download by a signed URL. The requester is unknown, so the memory is charged
// to the file.
func (h *fileHandler) followLink(w http.ResponseWriter, r *http.Request) {
	l, err := h.links.check(r)
	if err != nil {
		WriteProblem(w, err)
		return
	}
	h.admitted(r.Context())
	bytes, err := h.linkedBytes(r.Context(), l)
	if err != nil {
		WriteProblem(w, err)
		return
	}
	d, err := h.deliver(r.Context(), bytes, h.loading(l.tenant, l.app, l.file), l.tenant, "link "+l.file)
	if err != nil {
		WriteProblem(w, err)
		return
	}
	defer d.close()
	describeFile(w, l.name, l.mediaType, d.bytes)
	d.send(r.Context(), w)
}

// linkedBytes returns the size of the file to which a link refers.
func (h *fileHandler) linkedBytes(ctx context.Context, l link) (int64, error) {
	opened, release, err := h.apps.Host(ctx, l.tenant, l.app)
	if err != nil {
		return 0, err
	}
	defer release()
	return opened.Artifacts().Size(ctx, host.Caller{Tenant: l.tenant}, l.file)
}

// loading returns a loader for a file. The loader keeps the host of the app open only during a
// read.
func (h *fileHandler) loading(tenant, app, file string) loader {
	return func(ctx context.Context, offset int64) ([]byte, error) {
		opened, release, err := h.apps.Host(ctx, tenant, app)
		if err != nil {
			return nil, err
		}
		defer release()
		return opened.Artifacts().Piece(ctx, host.Caller{Tenant: tenant}, file, offset)
	}
}
