/** A type of the client. */
export interface ClientType {
  /** The schema of the OpenAPI description, or the path of one inside of it. */
  from: string;
  /** One sentence. */
  about: string;
  /** Code that uses it, with the drive `photos` of the project `project`. */
  example: string;
  /** Whether it is what callers give: its fields are in camel case then, as all options are. */
  isOptions?: true;
}

/** The types of the client, by their names. */
export const CLIENT_TYPES: Readonly<Record<string, ClientType>> = {
  ErrorCode: {
    from: "ErrorCode",
    about: "Why the server refused a request.",
    example: `const code: ErrorCode = "file_not_found";`,
  },
  StoredFile: {
    from: "StoredFile",
    about: "A file that was stored, copied or moved.",
    example: `const stored: StoredFile = await photos.put("a.txt", "Hello");
stored.name; // "a.txt"`,
  },
  FileDetails: {
    from: "FileDetails",
    about: "What is known about a file.",
    example: `await photos.put("a.txt", "Hello");
const details: FileDetails | undefined = await photos.details("a.txt");
details?.size; // 5`,
  },
  ListedEntry: {
    from: "ListedEntry",
    about: "A file of a list; or a directory, which has only a name that ends with a slash.",
    example: `await photos.put("trip/a.jpg", "…");
for await (const entry of photos.list({ recursive: false })) {
  const shown: ListedEntry = entry;
  shown.name; // "trip/"
}`,
  },
  FileChange: {
    from: "FileChange",
    about: "What is changed about a file.",
    example: `await photos.put("a.txt", "Hello");
const change: FileChange = { expiresIn: 3600, contentType: "text/markdown" };
await photos.change("a.txt", change);`,
    isOptions: true,
  },
  DeletedNames: {
    from: "DeletedNames",
    about: "The names that were deleted or did not exist, and those that could not be deleted.",
    example: `const names: DeletedNames = await photos.delete("a.txt", "b.txt");
names.failed; // []`,
  },
  NamePair: {
    from: "CopyManyRequest.items",
    about: "A file to copy or move, and the name that it gets.",
    example: `await photos.put("a.txt", "Hello");
const pair: NamePair = { from: "a.txt", to: "b.txt" };
await photos.copyMany([pair]);`,
  },
  CopyResult: {
    from: "CopyResult",
    about: "The names of files that were copied or moved, and why others were not.",
    example: `const result: CopyResult = await photos.moveMany([{ from: "missing", to: "b" }]);
result.failed[0]?.code; // "file_not_found"`,
  },
  DriveInfo: {
    from: "DriveList.drives",
    about: "A drive of a project. A key that is limited to some names sees no counts.",
    example: `await photos.put("a.txt", "Hello");
for await (const drive of project.drives({ prefix: "photos" })) {
  const { drive_name, files, bytes }: DriveInfo = drive;
  [drive_name, files, bytes]; // ["photos", 1, 5]
}`,
  },
  CreatedDrive: {
    from: "Drive",
    about: "A drive that was created without files.",
    example: `const created: CreatedDrive = await project.createDrive("empty");
created.drive_name; // "empty"`,
  },
  OpenUpload: {
    from: "UploadList.uploads",
    about: "An upload in parts that is not completed.",
    example: `for await (const upload of photos.uploads.list()) {
  const { upload_id, name }: OpenUpload = upload;
  await photos.uploads.abort(upload_id, name);
}`,
  },
  Upload: {
    from: "ExpiringUpload",
    about: "An upload in parts that was started, completed or aborted.",
    example: `const upload: Upload = await photos.uploads.start("film.mp4");
await photos.uploads.abort(upload.upload_id, "film.mp4");`,
  },
  UploadState: {
    from: "UploadState",
    about: "An open upload, and the parts that the server has.",
    example: `const { upload_id } = await photos.uploads.start("film.mp4");
const state: UploadState | undefined = await photos.uploads.get(upload_id, "film.mp4");
state?.parts; // []`,
  },
  ReceivedPart: {
    from: "ReceivedPart",
    about: "A part that was stored.",
    example: `const { upload_id } = await photos.uploads.start("a.txt");
const part: ReceivedPart = await photos.uploads.putPart(upload_id, "a.txt", 1, "Hello");
part.part; // 1`,
  },
  Folder: {
    from: "Folder",
    about: "A folder that is kept, or is no longer.",
    example: `const folder: Folder = await photos.folders.create("trip/");
folder.name; // "trip/"`,
  },
  Link: {
    from: "Link",
    about: "A link that opens a file, or all files of a prefix, without a key.",
    example: `const link: Link = await photos.links.create({ name: "a.txt" });
link.url; // "https://files.example.com/s/…"`,
  },
  LinkOptions: {
    from: "LinkRequest",
    about: "What a link opens: a \`name\` or a \`prefix\`; and its limits.",
    example: `const options: LinkOptions = { prefix: "trip/", expiresIn: 3600, password: "secret" };
await photos.links.create(options);`,
    isOptions: true,
  },
  LinkChanges: {
    from: "ChangeLinkRequest",
    about: "The settings of a link to set; \`null\` removes a limit.",
    example: `const { id } = await photos.links.create({ name: "a.txt", expiresIn: 3600 });
const changes: LinkChanges = { expiresIn: null, maxDownloads: 10 };
await photos.links.change(id, changes);`,
    isOptions: true,
  },
  TrashItem: {
    from: "TrashItem",
    about: "A deleted or replaced file, while the trash is on.",
    example: `for await (const item of photos.trash.list()) {
  const { id }: TrashItem = item;
  await photos.trash.restore([id]);
}`,
  },
  RestoreResult: {
    from: "RestoreResult",
    about: "The items that were restored from the trash, and why others were not.",
    example: `const { restored }: RestoreResult = await photos.trash.restore([]);
restored; // []`,
  },
  ProjectDetails: {
    from: "ProjectDetails",
    about: "A project with its usage and its limits.",
    example: `const { bytes, max_bytes }: ProjectDetails = await project.details();
const room = max_bytes === null ? Infinity : max_bytes - bytes;`,
  },
  ProjectChange: {
    from: "ChangeProjectRequest",
    about: "Settings of a project. Its owner may set how many days the trash keeps files.",
    example: `const change: ProjectChange = { trashDays: 30 };
await project.change(change);`,
    isOptions: true,
  },
  UsageDay: {
    from: "UsageDay",
    about: "What a project used on one day.",
    example: `const days: UsageDay[] = await project.usage({ days: 7 });
days.at(-1)?.date;`,
  },
  ProjectEvent: {
    from: "Event",
    about: "An entry of the audit log.",
    example: `for await (const event of project.events()) {
  const { at, by }: ProjectEvent = event;
  [at, by];
}`,
  },
  OwnKey: {
    from: "OwnKey",
    about: "What a key may do.",
    example: `const { permissions }: OwnKey = await project.whoami();
permissions.includes("write"); // true`,
  },
  ProjectKey: {
    from: "ProjectKeyList.keys",
    about: "A key of a project, without its secret.",
    example: `const keys: ProjectKey[] = await project.keys.list();
keys[0]?.prefix;`,
  },
  NewProjectKey: {
    from: "NewProjectKey",
    about: "A key that was created. Its secret is shown only here.",
    example: `const key: NewProjectKey = await project.keys.create({ permissions: ["read"] });
key.project_key;`,
  },
  ProjectKeyOptions: {
    from: "CreateProjectKeyRequest",
    about: "What a new key may do: everything unless limited.",
    example: `const options: ProjectKeyOptions = { permissions: ["read"], drives: ["photos"] };
await project.keys.create(options);`,
    isOptions: true,
  },
  S3Key: {
    from: "S3KeyList.s3_keys",
    about: "A key for programs that speak S3, without its secret.",
    example: `const keys: S3Key[] = await project.s3Keys.list();
keys[0]?.access_key_id;`,
  },
  NewS3Key: {
    from: "NewS3Key",
    about: "An S3 key that was created. Its secret is shown only here.",
    example: `const key: NewS3Key = await project.s3Keys.create({ name: "backup" });
key.secret_access_key;`,
  },
  S3KeyOptions: {
    from: "CreateS3KeyRequest",
    about: "What a new S3 key may do: everything unless limited.",
    example: `const options: S3KeyOptions = { name: "backup", drives: ["photos"] };
await project.s3Keys.create(options);`,
    isOptions: true,
  },
  App: {
    from: "App",
    about: "A hosted application.",
    example: `const app: App = await project.apps.create({ name: "viewer" });
app.access.enabled; // false`,
  },
  AppOptions: {
    from: "CreateAppRequest",
    about: "A new application. Only the administrator sets its upstream address.",
    example: `const options: AppOptions = { name: "viewer", access: { enabled: true } };
await project.apps.create(options);`,
    isOptions: true,
  },
  AppChange: {
    from: "ChangeAppRequest",
    about: "What is changed about an application.",
    example: `await project.apps.create({ name: "viewer" });
const change: AppChange = { host: null };
await project.apps.change("viewer", change);`,
    isOptions: true,
  },
  Access: {
    from: "Access",
    about: "Whether the callers of an application need a key.",
    example: `await project.apps.create({ name: "viewer" });
const access: Access = await project.apps.setAccess("viewer", { enabled: true });
access.enabled; // true`,
  },
  Webhook: {
    from: "Webhook",
    about: "An address to which changes are delivered, without its secret.",
    example: `const webhooks: Webhook[] = await project.webhooks.list();
webhooks[0]?.pending;`,
  },
  CreatedWebhook: {
    from: "CreatedWebhook",
    about: "A webhook that was created. Its secret is shown only here.",
    example: `await project.change({ changeDays: 7 });
const webhook: CreatedWebhook = await project.webhooks.create({
  name: "index",
  url: "https://hooks.example.com/",
});
webhook.secret;`,
  },
  WebhookOptions: {
    from: "CreateWebhookRequest",
    about: "A new webhook: its address, and which changes are delivered.",
    example: `const options: WebhookOptions = {
  name: "index",
  url: "https://hooks.example.com/",
  drives: ["photos"],
};
await project.change({ changeDays: 7 });
await project.webhooks.create(options);`,
    isOptions: true,
  },
  WebhookChange: {
    from: "ChangeWebhookRequest",
    about: "What is changed about a webhook.",
    example: `const change: WebhookChange = { enabled: true };
for (const { id } of await project.webhooks.list()) await project.webhooks.change(id, change);`,
    isOptions: true,
  },
  WebhookTest: {
    from: "WebhookTest",
    about: "What came back from the receiver of a webhook.",
    example: `for (const { id } of await project.webhooks.list()) {
  const answer: WebhookTest = await project.webhooks.test(id);
  answer.status;
}`,
  },
  AppKey: {
    from: "AppKeyList.keys",
    about: "A key of an application, without its secret.",
    example: `await project.apps.create({ name: "viewer" });
const keys: AppKey[] = await project.apps.keys("viewer").list();
keys.length; // 0`,
  },
  NewAppKey: {
    from: "NewAppKey",
    about: "A key of an application that was created. Its secret is shown only here.",
    example: `await project.apps.create({ name: "viewer", access: { enabled: true } });
const key: NewAppKey = await project.apps.keys("viewer").create({ name: "ci" });
key.api_key;`,
  },
  AppKeyOptions: {
    from: "CreateAppKeyRequest",
    about: "A new key of an application.",
    example: `await project.apps.create({ name: "viewer", access: { enabled: true } });
const options: AppKeyOptions = { name: "ci", description: "The nightly run" };
await project.apps.keys("viewer").create(options);`,
    isOptions: true,
  },
};
