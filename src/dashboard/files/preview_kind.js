import { MAX_PREVIEW } from "./limits.js";
import { baseName } from "./names.js";

/**
 * The kind of a preview, and the content type under which the browser gets the bytes.
 *
 * @typedef {"image" | "audio" | "video" | "pdf" | "text"} PreviewKind
 * @typedef {{kind: PreviewKind, type: string}} Preview
 */

/**
 * All content types that the browser gets with stored bytes. Active content is shown as text or not shown:
 * the stored type only selects one of these. SVG images run nothing inside `<img>`.
 *
 * @type {Readonly<Record<string, PreviewKind>>}
 */
const SHOWN = {
  "image/png": "image",
  "image/jpeg": "image",
  "image/gif": "image",
  "image/webp": "image",
  "image/avif": "image",
  "image/bmp": "image",
  "image/x-icon": "image",
  "image/svg+xml": "image",
  "audio/mpeg": "audio",
  "audio/mp4": "audio",
  "audio/aac": "audio",
  "audio/ogg": "audio",
  "audio/wav": "audio",
  "audio/webm": "audio",
  "audio/flac": "audio",
  "video/mp4": "video",
  "video/webm": "video",
  "video/ogg": "video",
  "application/pdf": "pdf",
};

/** Other names of those types. @type {Readonly<Record<string, string>>} */
const ALIASES = {
  "image/jpg": "image/jpeg",
  "image/vnd.microsoft.icon": "image/x-icon",
  "audio/mp3": "audio/mpeg",
  "audio/x-m4a": "audio/mp4",
  "audio/wave": "audio/wav",
  "audio/x-wav": "audio/wav",
  "audio/x-flac": "audio/flac",
  "audio/opus": "audio/ogg",
  // Browsers play supported formats under this type.
  "video/quicktime": "video/mp4",
  "video/x-m4v": "video/mp4",
};

/** By file extension, if the stored type is generic or absent. @type {Readonly<Record<string, string>>} */
const BY_EXTENSION = {
  png: "image/png",
  jpg: "image/jpeg",
  jpeg: "image/jpeg",
  gif: "image/gif",
  webp: "image/webp",
  avif: "image/avif",
  bmp: "image/bmp",
  ico: "image/x-icon",
  svg: "image/svg+xml",
  mp3: "audio/mpeg",
  m4a: "audio/mp4",
  aac: "audio/aac",
  ogg: "audio/ogg",
  opus: "audio/ogg",
  wav: "audio/wav",
  flac: "audio/flac",
  mp4: "video/mp4",
  m4v: "video/mp4",
  mov: "video/mp4",
  webm: "video/webm",
  ogv: "video/ogg",
  pdf: "application/pdf",
};

const TEXT_TYPE =
  /^text\/|[/+](json|xml|yaml|toml)$|^application\/(javascript|x-javascript|ecmascript|typescript|sql|x-sh|x-httpd-php|x-yaml|jsonl|x-ndjson|ld\+json|graphql|rtf|x-tex|x-subrip)$/;

const TEXT_EXTENSION =
  /^(txt|md|log|csv|tsv|json|jsonl|ndjson|xml|html?|xhtml|css|js|mjs|cjs|ts|tsx|jsx|py|rb|rs|go|java|kt|c|h|cc|cpp|hpp|cs|php|sh|bash|zsh|fish|sql|ya?ml|toml|ini|conf|cfg|env|lock|diff|patch|srt|vtt|tex|lua|pl|r|swift|vue|svelte|graphql|proto|gitignore|dockerfile|makefile|license|readme)$/;

/**
 * The preview kind of a file; `undefined` if there is no safe preview.
 *
 * @param {{name: string, content_type?: string}} file
 * @returns {Preview | undefined}
 */
export function previewOf({ name, content_type = "" }) {
  const stored = content_type.split(";", 1)[0]?.trim().toLowerCase() ?? "";
  const extension = baseName(name).toLowerCase().split(".").at(-1) ?? "";
  const isSpecific = stored !== "" && stored !== "application/octet-stream";
  const type = isSpecific ? own(ALIASES, stored) ?? stored : own(BY_EXTENSION, extension) ?? "";
  const kind = own(SHOWN, type);
  if (kind !== undefined) return { kind, type };
  const isText = isSpecific ? TEXT_TYPE.test(type) : TEXT_EXTENSION.test(extension);
  return isText ? { kind: "text", type: "text/plain" } : undefined;
}

/**
 * Looks up an own property, so that names like `constructor` do not match.
 *
 * @template T
 * @param {Readonly<Record<string, T>>} table
 * @param {string} word
 * @returns {T | undefined}
 */
function own(table, word) {
  return Object.hasOwn(table, word) ? table[word] : undefined;
}

/**
 * Whether a file of a size can be previewed as the kind. A text always can, by its beginning.
 *
 * @param {PreviewKind} kind
 * @param {number} size
 */
export function hasPreview(kind, size) {
  return kind === "text" || size <= MAX_PREVIEW[kind];
}
