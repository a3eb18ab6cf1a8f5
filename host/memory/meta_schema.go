package memory

import "encoding/json"

// SessionMetaSchema is the JSON Schema of the built-in store sessionMeta. Do not modify
// SessionMetaSchema.
var SessionMetaSchema = json.RawMessage(`{
  "type": "object",
  "required": ["metadata", "sessionInfo", "artifacts"],
  "properties": {
    "metadata": {"type": "object", "description": "Data of the platform about the session and its user"},
    "sessionInfo": {
      "type": "object",
      "required": ["sessionId", "appId", "sessionReference", "userReference", "userId", "runId", "timestamp"],
      "additionalProperties": false,
      "properties": {
        "sessionId": {"type": ["string", "null"]},
        "appId": {"type": "string"},
        "sessionReference": {"type": ["string", "null"], "description": "The platform's name for the session"},
        "userReference": {"type": ["string", "null"], "description": "The platform's name for the user"},
        "userId": {"type": ["string", "null"]},
        "runId": {"type": "string"},
        "timestamp": {"type": ["string", "null"], "format": "date-time", "description": "When the session began"}
      }
    },
    "artifacts": {
      "type": "array",
      "description": "The files of the session",
      "items": {
        "type": "object",
        "required": ["fileId", "type", "filename", "mimetype", "size", "sha256", "isActive", "uploadedAt", "expiresAt", "hasText", "downloadUrl"],
        "additionalProperties": false,
        "properties": {
          "fileId": {"type": "string"},
          "type": {"type": "string", "description": "The format, such as pdf"},
          "filename": {"type": "string"},
          "mimetype": {"type": "string"},
          "size": {"type": "integer"},
          "sha256": {"type": "string"},
          "isActive": {"type": "boolean"},
          "uploadedAt": {"type": "string", "format": "date-time"},
          "expiresAt": {"type": "string", "format": "date-time"},
          "hasText": {"type": "boolean"},
          "textTruncated": {"type": "boolean"},
          "textReason": {"type": "string", "description": "Why the file has no text"},
          "downloadUrl": {"type": ["string", "null"]},
          "text": {"type": "string", "description": "The text of an active file"}
        }
      }
    }
  },
  "additionalProperties": false
}`)
