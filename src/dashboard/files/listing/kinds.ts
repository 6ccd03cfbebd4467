import { type Entry, labelOf } from "../entry.ts";

/** What a file is, for its icon and for filters. */
export type Kind =
  | "folder"
  | "image"
  | "video"
  | "audio"
  | "document"
  | "archive"
  | "code"
  | "other";

/** A kind, and what people call the type: "JPEG image". */
export interface FileType {
  kind: Kind;
  label: string;
}

/** The types of names by their extensions, one line for each kind of label. */
const TABLE: readonly (readonly [kind: Kind, noun: string, extensions: string])[] = [
  ["image", "JPEG image", "jpg jpeg"],
  ["image", "* image", "png gif webp avif heic bmp tiff svg"],
  ["image", "TIFF image", "tif"],
  ["image", "Icon", "ico"],
  ["image", "Raw photo", "dng cr2 nef arw"],
  ["image", "Photoshop image", "psd"],
  ["video", "* video", "mp4 webm mkv avi mpeg"],
  ["video", "QuickTime video", "mov"],
  ["video", "MP4 video", "m4v"],
  ["audio", "* audio", "mp3 wav ogg flac aac opus"],
  ["audio", "MP4 audio", "m4a"],
  ["document", "PDF document", "pdf"],
  ["document", "Text", "txt log"],
  ["document", "Markdown", "md markdown"],
  ["document", "Word document", "doc docx"],
  ["document", "Spreadsheet", "xls xlsx ods numbers"],
  ["document", "CSV table", "csv tsv"],
  ["document", "Presentation", "ppt pptx odp key"],
  ["document", "Document", "odt rtf pages"],
  ["document", "E-book", "epub mobi"],
  ["archive", "* archive", "zip rar 7z tar"],
  ["archive", "Compressed file", "gz tgz bz2 xz zst"],
  ["archive", "Disk image", "iso dmg img"],
  ["archive", "Package", "deb rpm apk jar"],
  ["code", "* file", "json xml yaml toml ini sql css"],
  ["code", "YAML file", "yml"],
  ["code", "Web page", "html htm xhtml"],
  ["code", "JavaScript", "js mjs cjs jsx"],
  ["code", "TypeScript", "ts tsx mts"],
  ["code", "Script", "sh bash ps1 bat"],
  ["code", "Source code", "c h cc cpp hpp cs go rs py rb java kt swift php lua pl r scala"],
  ["other", "Font", "ttf otf woff woff2"],
  ["other", "Program", "exe msi app"],
  ["other", "Database", "db sqlite sqlite3"],
];

const BY_EXTENSION = new Map<string, FileType>(
  TABLE.flatMap(([kind, noun, extensions]) =>
    extensions.split(" ").map((extension) =>
      [extension, { kind, label: noun.replace("*", extension.toUpperCase()) }] as const
    )
  ),
);

const FOLDER: FileType = { kind: "folder", label: "Folder" };
const TEXT: FileType = { kind: "document", label: "Text" };
const OTHER: FileType = { kind: "other", label: "File" };

/** The longest end of a name that counts as its extension, in characters. */
const MAX_EXTENSION = 8;

/** Returns the type of a file: by the end of its name, or by its content type if that says nothing. */
export function typeOf(entry: Entry): FileType {
  if (entry.kind === "folder") return FOLDER;
  const extension = extensionOf(labelOf(entry));
  const known = BY_EXTENSION.get(extension);
  if (known !== undefined) return known;
  return typeOfContent(entry.content_type ?? "") ??
    (extension === "" ? OTHER : { kind: "other", label: `${extension.toUpperCase()} file` });
}

/** Returns the extension of a label in lower case: empty if there is none. */
export function extensionOf(label: string): string {
  const dot = label.lastIndexOf(".");
  const extension = dot < 1 ? "" : label.slice(dot + 1).toLowerCase();
  return extension.length <= MAX_EXTENSION && /^[a-z0-9]+$/.test(extension) ? extension : "";
}

function typeOfContent(contentType: string): FileType | undefined {
  const [main = "", rest = ""] = contentType.toLowerCase().split(";", 1)[0]!.trim().split("/");
  const known = BY_EXTENSION.get(rest);
  if (known !== undefined) return known;
  if (main === "text") return TEXT;
  if (main !== "image" && main !== "video" && main !== "audio") return undefined;
  const name = rest.replace(/^x-|\+.*$/g, "").toUpperCase();
  return { kind: main, label: `${name} ${main}` };
}
