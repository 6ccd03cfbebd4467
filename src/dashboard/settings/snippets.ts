/**
 * Code to paste, for each way to call the server.
 *
 * @module
 */

export interface Server {
  origin: string;
  host: string;
  isSecure: boolean;
  project: string;
  /** The project key, or what stands in its place. */
  key: string;
  /** Whether WebDAV is on. */
  hasWebdav: boolean;
  /** The address of S3; `null` if it is off. */
  s3: string | null;
}

export interface Snippet {
  label: string;
  text: string;
}

export interface Client {
  title: string;
  notes: string[];
  snippets: Snippet[];
}

export const PLACEHOLDER = "<the project key>";

const HTTPS_ONLY =
  "It uses https only, and this page was loaded over http: start the server with " +
  "--tls-cert and --tls-key, or use a proxy that has a certificate.";

/** Returns the lines for each way to call a server. */
export function clientsOf(place: Server): Client[] {
  return [
    commandLine(place),
    ...place.hasWebdav ? [webdav(place)] : [],
    ...place.s3 === null ? [] : [s3(place.s3)],
    typedClient(place),
    curl(place),
    javaScript(place),
    python(place),
    go(place),
  ];
}

function commandLine({ origin, key }: Server): Client {
  return {
    title: "Command line",
    notes: ["The program of the server is its client, too: on any other machine it runs with npx."],
    snippets: [shell([
      `export KVDRIVE_URL=${quoted(origin)}`,
      `export KVDRIVE_KEY=${quoted(key)}`,
      "npx kvdrive put cat.jpg photos:pets/",
      "npx kvdrive ls photos:",
      "npx kvdrive sync folder photos:folder",
    ])],
  };
}

function s3(address: string): Client {
  const key = [
    `export AWS_ENDPOINT_URL_S3=${quoted(address)}`,
    `export AWS_ACCESS_KEY_ID=${quoted("<the access key id>")}`,
    `export AWS_SECRET_ACCESS_KEY=${quoted("<the secret access key>")}`,
    "export AWS_REGION=us-east-1",
  ];
  return {
    title: "S3",
    notes: [
      "Drives are buckets. S3 clients sign with an S3 key, which the page Keys makes and shows in this form.",
    ],
    snippets: [
      { label: "AWS CLI", text: [...key, "aws s3 cp cat.jpg s3://photos/pets/cat.jpg"].join("\n") },
      {
        label: "rclone",
        text: [
          ...key,
          `rclone config create kvdrive s3 provider=Other env_auth=true endpoint=${
            quoted(address)
          }`,
          "rclone copy folder kvdrive:photos/folder",
        ].join("\n"),
      },
    ],
  };
}

function typedClient({ origin, key }: Server): Client {
  const code = [
    'import { connect } from "kvdrive-client";',
    "",
    `const project = connect({ url: ${JSON.stringify(origin)}, key: ${JSON.stringify(key)} });`,
    'const photos = project.drive("photos");',
    'await photos.put("hello.txt", "Hello!");',
    'console.log(await (await photos.get("hello.txt"))?.text());',
  ];
  return {
    title: "TypeScript",
    notes: ["The typed client: files of any size in parts, with retries and resumption."],
    snippets: [
      shell(["npm install kvdrive-client"]),
      { label: "hello.ts", text: code.join("\n") },
    ],
  };
}

function webdav({ origin, project, key }: Server): Client {
  const address = `${origin}/dav/${project}/`;
  return {
    title: "Network folder (WebDAV)",
    notes: [
      "Windows, macOS, Linux and apps of phones open this address. Each folder in it is a drive. " +
      "The user name is any text, and the password a project key.",
    ],
    snippets: [
      { label: "Address", text: address },
      {
        label: "Mount with rclone",
        text: [
          `rclone config create kvdrive webdav url=${quoted(address)} vendor=nextcloud \\`,
          `  user=kvdrive nextcloud_chunk_size=0 pass="$(rclone obscure ${quoted(key)})"`,
          "rclone mount kvdrive: folder --vfs-cache-mode writes",
        ].join("\n"),
      },
    ],
  };
}

function curl({ origin, project, key }: Server): Client {
  const lines = [
    `KEY=${quoted(key)}`,
    `DRIVE=${quoted(`${origin}/v1/${project}/photos`)}`,
    "",
    "# Upload up to 10 MB in one request; the first upload creates the drive",
    `curl -X POST -T cat.jpg -H "X-Api-Key: $KEY" "$DRIVE/files?name=pets/cat.jpg"`,
    "# List",
    `curl -H "X-Api-Key: $KEY" "$DRIVE/files?limit=100&prefix=pets/"`,
    "# Download",
    `curl -H "X-Api-Key: $KEY" -o cat.jpg "$DRIVE/files/download?name=pets/cat.jpg"`,
    "# Delete up to 1000 files",
    `curl -X DELETE -H "X-Api-Key: $KEY" "$DRIVE/files" -d '{"names": ["pets/cat.jpg"]}'`,
  ];
  return { title: "curl", notes: [], snippets: [shell(lines)] };
}

function javaScript({ host, isSecure, key }: Server): Client {
  const code = [
    'import { Deta } from "deta";',
    "",
    'const photos = Deta().Drive("photos");',
    'await photos.put("hello.txt", { data: "Hello!" });',
    "console.log((await photos.list()).names);",
    'console.log(await (await photos.get("hello.txt")).text());',
  ];
  return {
    title: "JavaScript (Deta)",
    notes: isSecure ? [] : [HTTPS_ONLY],
    snippets: [
      shell([
        "npm install deta",
        `export DETA_DRIVE_HOST=${quoted(host)}`,
        `export DETA_PROJECT_KEY=${quoted(key)}`,
      ]),
      { label: "hello.mjs", text: code.join("\n") },
    ],
  };
}

function python({ host, isSecure, key }: Server): Client {
  const code = [
    "from deta import Drive",
    "",
    'photos = Drive("photos")',
    'photos.put("hello.txt", data="Hello!")',
    'print(photos.list()["names"])',
    'print(photos.get("hello.txt").read())',
  ];
  const taken =
    "The name “deta” on PyPI belongs to another program now: install the library from its repository.";
  return {
    title: "Python (Deta)",
    notes: isSecure ? [taken] : [HTTPS_ONLY, taken],
    snippets: [
      shell([
        "pip install git+https://github.com/deta/deta-python",
        `export DETA_DRIVE_HOST=${quoted(host)}`,
        `export DETA_PROJECT_KEY=${quoted(key)}`,
      ]),
      { label: "hello.py", text: code.join("\n") },
    ],
  };
}

const GO = `package main

import (
\t"fmt"
\t"log"
\t"strings"

\t"github.com/deta/deta-go/deta"
\t"github.com/deta/deta-go/service/drive"
)

func main() {
\td, err := deta.New()
\tif err != nil {
\t\tlog.Fatal(err)
\t}
\tphotos, err := drive.New(d, "photos")
\tif err != nil {
\t\tlog.Fatal(err)
\t}
\tname, err := photos.Put(&drive.PutInput{Name: "hello.txt", Body: strings.NewReader("Hello!")})
\tif err != nil {
\t\tlog.Fatal(err)
\t}
\tfmt.Println("stored", name)
}`;

function go({ origin, key }: Server): Client {
  return {
    title: "Go (Deta)",
    notes: [
      "It expects another form of the answer to a delete: start the server with --failed-reasons.",
    ],
    snippets: [
      shell([
        "go get github.com/deta/deta-go",
        `export DETA_DRIVE_ROOT_ENDPOINT=${quoted(`${origin}/v1`)}`,
        `export DETA_PROJECT_KEY=${quoted(key)}`,
      ]),
      { label: "main.go", text: GO },
    ],
  };
}

function shell(lines: string[]): Snippet {
  return { label: "In a shell", text: lines.join("\n") };
}

/** Quotes a text as one word of a shell command. */
export function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
