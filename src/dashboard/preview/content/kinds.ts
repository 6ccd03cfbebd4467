import { type Entry, labelOf } from "../../files/entry.ts";
import { extensionOf } from "../../files/listing/kinds.ts";
import { isText } from "./text.ts";

/** How a file is shown. HTML, XML and scripts are text. */
export type View =
  | "image"
  | "svg"
  | "video"
  | "audio"
  | "pdf"
  | "markdown"
  | "json"
  | "table"
  | "archive"
  | "text"
  | "bytes";

/** Content types that say nothing: the server's own, those of tools that send any file, and that of `.ts` files. */
const VAGUE =
  /^(|application\/(octet-stream|x-www-form-urlencoded|binary)|binary\/.*|video\/mp2t|multipart\/.*)$/;

/** Views by content type. The first one that matches counts. */
const BY_TYPE: readonly (readonly [pattern: RegExp, view: View])[] = [
  [/^image\/svg\+xml$/, "svg"],
  [/^image\/(?!.*xml)/, "image"],
  [/^video\/(?!.*xml)/, "video"],
  [/^audio\/(?!.*(xml|mpegurl))/, "audio"],
  [/^application\/ogg$/, "audio"],
  [/^application\/pdf$/, "pdf"],
  [/^text\/(x-)?markdown$/, "markdown"],
  [/^(application|text)\/json$|\+json$/, "json"],
  [/^text\/(csv|tab-separated-values)$/, "table"],
  [/^application\/(zip|x-zip-compressed|java-archive|vnd\.android\.package-archive)$/, "archive"],
  [/^text\/|[/+](xml|yaml|toml)$/, "text"],
  [
    /^application\/(x-)?(javascript|ecmascript|typescript|sql|sh|httpd-php|yaml|jsonl|ndjson|graphql|tex|subrip)$/,
    "text",
  ],
];

/** Views by extension. */
const EXTENSIONS: Readonly<Record<Exclude<View, "bytes">, string>> = {
  image: "png jpg jpeg gif webp avif bmp ico apng jfif",
  svg: "svg",
  video: "mp4 m4v mov webm ogv mkv",
  audio: "mp3 m4a aac ogg oga opus wav flac",
  pdf: "pdf",
  markdown: "md markdown",
  json: "json geojson webmanifest ipynb",
  table: "csv tsv",
  archive: "zip jar apk cbz",
  text:
    "txt log xml html htm xhtml css scss less js mjs cjs jsx ts mts tsx py rb rs go java kt c h " +
    "cc cpp hpp cs php sh bash zsh fish ps1 bat sql yml yaml toml ini conf cfg env lock diff patch " +
    "srt vtt tex lua pl r swift vue svelte graphql proto jsonl ndjson m3u m3u8 rtf ics vcf",
};

const BY_EXTENSION = new Map(
  (Object.keys(EXTENSIONS) as Exclude<View, "bytes">[]).flatMap((view) =>
    EXTENSIONS[view].split(" ").map((extension): [string, View] => [extension, view])
  ),
);

/** How a file is shown by its content type, then by its name; `undefined` if its first bytes have to tell. */
export function viewOf(entry: Pick<Entry, "name" | "content_type">): View | undefined {
  const type = (entry.content_type ?? "").split(";", 1)[0]!.trim().toLowerCase();
  const named = BY_EXTENSION.get(extensionOf(labelOf(entry)));
  if (VAGUE.test(type)) return named;
  const typed = BY_TYPE.find(([pattern]) => pattern.test(type))?.[1];
  // Plain text says nothing of the form of the text.
  const isOpen = type === "text/plain" && ["markdown", "json", "table"].includes(named ?? "");
  return isOpen ? named : typed ?? named;
}

/** Signatures at the beginning of files, in hexadecimal digits. */
const SIGNATURES: readonly (readonly [pattern: RegExp, view: View])[] = [
  // PNG, JPEG, GIF, WebP, BMP, ICO, AVIF
  [/^(89504e470d0a|ffd8ff|47494638|52494646.{8}57454250|424d.{8}00000000|00000100)/, "image"],
  [/^.{8}6674797061766966/, "image"],
  // WAV, MP3, FLAC, Ogg, AAC, M4A
  [/^(52494646.{8}57415645|494433|664c6143|4f676753|fff[123b9])/, "audio"],
  [/^.{8}667479704d344[12]/, "audio"],
  // MP4 but not HEIC, WebM and Matroska
  [/^(.{8}66747970(?!6865|6d69)|1a45dfa3)/, "video"],
  [/^(..)*?255044462d/, "pdf"],
  [/^504b0(304|506)/, "archive"],
];

/** Bytes that are enough to recognize a file. */
export const SNIFFED = 1024;

/** How a file is shown by its first bytes. */
export function sniff(bytes: Uint8Array): View {
  const digits = [...bytes.subarray(0, SNIFFED)].map((byte) => byte.toString(16).padStart(2, "0"));
  const text = digits.join("");
  const view = SIGNATURES.find(([pattern]) => pattern.test(text))?.[1];
  return view ?? (isText(bytes) ? "text" : "bytes");
}
