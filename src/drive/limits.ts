/**
 * Every limit of the program, with its unit and where it comes from. Sizes are bytes, times are milliseconds.
 *
 * @module
 */

const MIB = 2 ** 20;
const SECOND = 1000;
const MINUTE = 60 * SECOND;

/** "The maximum payload is 10 MB"; both readings of MB are accepted, so the larger one is the limit. */
export const MAX_PAYLOAD = 10 * MIB;

/** "Each chunk is at least 5 MB … The final chunk may be smaller"; the smaller reading of MB is the limit. */
export const MIN_PART = 5_000_000;

/** Parts of one upload: the specification names no number; the wire contract has 1 to 10,000. */
export const MAX_PARTS = 10_000;

/** "at most 1000 names per request" (Delete Files). */
export const MAX_DELETE_NAMES = 1000;

/** "Defaults to 1000" (List Files); a greater `limit` counts as this. */
export const MAX_LIST = 1000;

/** A file's name, in bytes of UTF-8 (wire contract).. */
export const MAX_NAME = 1024;

/** A drive's name, in bytes of UTF-8 after percent-decoding (wire contract). */
export const MAX_DRIVE_NAME = 128;

/** A project's id, in characters (wire contract). */
export const MAX_PROJECT_ID = 64;

/** The length from which a secret of `A-Z a-z 0-9` holds 128 random bits (22 × log2 62 = 131). */
export const MIN_SECRET = 22;

/** Characters of a project key's secret that it is listed by. */
export const KEY_PREFIX = 8;

/** The length from which on a secret shows its first characters: 22 of `A-Z a-z 0-9`, 128 random bits, stay unseen. */
export const MIN_SHOWN_SECRET = MIN_SECRET + KEY_PREFIX;

/** "A key's prefix has 8 characters" (wire contract): that of an application's key. */
export const APP_KEY_PREFIX = 8;

/** An application's name, in characters: it is a segment of a path and a part of keys, as a project's id is. */
export const MAX_APP_NAME = 64;

/** Where an application runs, in characters: what is longer is no address that people write. */
export const MAX_UPSTREAM = 2048;

/** A host name, and one label of it, in characters (RFC 1035, 2.3.4). */
export const MAX_HOST = 253;
export const MAX_HOST_LABEL = 63;

/** The name of a key or of a project, and a key's description, in characters: they are for lists that people read. */
export const MAX_KEY_NAME = 128;
export const MAX_DESCRIPTION = 1024;

/** A content type that is stored with a file: two names of 127 characters (RFC 6838, 4.2) and a slash. */
export const MAX_CONTENT_TYPE = 255;

/** A key in a header. Ours have at most 100 characters; what is longer is not hashed at all. */
export const MAX_KEY_HEADER = 256;

/** A JSON body: 1000 names of 1024 bytes, each written as a `\u` escape of six bytes, and their quotes. */
export const MAX_JSON_BODY = MAX_DELETE_NAMES * (MAX_NAME * 6 + 8) + 1024;

/** One value of Deno KV (its limit), and so one piece of a file. */
export const CHUNK = 65_536;

/** An atomic operation of Deno KV: its limits are 819,200 bytes, 1000 mutations, 100 checks, 81,920 bytes of keys. */
export const MAX_COMMIT_BYTES = 800_000;
export const MAX_COMMIT_MUTATIONS = 900;
export const MAX_COMMIT_CHECKS = 90;
export const MAX_COMMIT_KEY_BYTES = 75_000;

/**
 * Checks in one operation on a remote store, and those of them that our own operations may have: one is for recognising
 * the commit. KV Connect's limit is 10; everything else is as above.
 */
export const REMOTE_COMMIT_CHECKS = 8;
export const REMOTE_OWN_CHECKS = REMOTE_COMMIT_CHECKS - 1;

/** Keys in one `getMany` of Deno KV (its limit). */
export const MAX_GET_MANY = 10;

/** Groups of small reads on their way at once: more would be smaller, and no sooner there. */
export const READS_IN_FLIGHT = 2;

/** Entries in one batch of `list` of Deno KV (its limit). */
export const MAX_LIST_BATCH = 1000;

/** Pieces of a file that a download asks for at once, if the memory budget has room; one such batch is read ahead. */
export const MAX_READ_BATCH = 64;

/** Writes of names that turned out to be new before the next one is taken for new without asking the store. */
export const NEW_NAMES_IN_A_ROW = 256;

/** Bulk commits on their way: of one upload, and of the whole process, so that small requests stay quick. */
export const BULK_COMMITS_PER_UPLOAD = 3;
export const BULK_COMMITS = 2;

/** Groups of small writes on their way at once. */
export const GROUP_COMMITS = 2;

/**
 * The same on a remote store, and reads of it in all: an operation waits for the way there and back, some milliseconds
 * to tens of them, so more of them are on their way. What is on its way when the store goes away stays in memory.
 */
export const REMOTE_GROUP_COMMITS = 8;
export const REMOTE_BULK_COMMITS = 8;
export const REMOTE_GROUPED_READS = 8;
export const REMOTE_READS = 32;

/** Pieces deleted in one operation when bytes are reclaimed: short enough not to hold up requests. */
export const RECLAIM_BATCH = 100;

/** Parts described in one page of a manifest: some 20 KB. */
export const PARTS_PER_PAGE = 500;

/** How long a locked database is tried again before the answer is 503. */
export const LOCKED_RETRY_TIME = 5 * SECOND;
export const LOCKED_RETRY_MIN_DELAY = 2;
export const LOCKED_RETRY_MAX_DELAY = 20;

/**
 * How long a remote store may take for a batch of reads, and for a commit of up to 800 KB, before the answer is 503. Both
 * are a hundred times what they take, and longer than a restart of the store; clients wait for 30 s and more.
 */
export const REMOTE_READ_TIME = 5 * SECOND;
export const REMOTE_COMMIT_TIME = 10 * SECOND;

/** How long the entry lives by which a commit whose answer was lost is recognised: longer than anybody asks for it. */
export const COMMIT_MARKER_TIME = 10 * MINUTE;

/** How long a commit that passed its deadline may be on its way still: a dead connection is noticed after a quarter of an hour. */
export const LATE_COMMIT_TIME = 24 * 60 * MINUTE;

/** Such commits that are remembered until the store is back: more than can be on their way at once. */
export const MAX_OVERDUE_COMMITS = 100;

/**
 * How long a question whether the store is back is left unanswered until it is asked anew, twice as long each time, and
 * the pause after one that failed.
 */
export const REMOTE_PROBE_TIME = 5 * SECOND;
export const REMOTE_MAX_PROBE_TIME = MINUTE;
export const REMOTE_PROBE_PAUSE = SECOND;

/** How long a start waits for a remote store that is not there yet, and how often it tries. */
export const REMOTE_OPEN_TIME = 15 * SECOND;
export const REMOTE_OPEN_PAUSE = SECOND / 2;

/** Free pages of 4 KiB of the store's file from which on it is made smaller, and down to which. */
export const COMPACT_FROM_PAGES = 2048;
export const COMPACT_TO_PAGES = 256;

/** Pages that are freed while the store is locked, some milliseconds, and the pause behind them. */
export const COMPACT_SLICE_PAGES = 200;
export const COMPACT_PAUSE = 20;

/** How often a publish whose check failed is tried again from the read before the answer is 503. */
export const MAX_PUBLISH_TRIES = 50;

/** How long bytes being written stay claimed when their writer's process has died; a live one renews its claims. */
export const WRITE_LEASE = 2 * MINUTE;

/** How long replaced bytes stay for readers in other processes; readers in this one are waited for. */
export const GARBAGE_GRACE = MINUTE;

/**
 * Time between two sweeps. Together with `GARBAGE_GRACE` it leaves 15 s for the sweep itself, so that replaced bytes are
 * reclaimed within 90 s.
 */
export const SWEEP_INTERVAL = 15 * SECOND;

/** A body that gives no byte, or a reader that takes none, for this long is given up, unless configured. */
export const DEFAULT_IDLE_TIMEOUT = MINUTE;

/**
 * How many times longer a reader may take nothing. Between it and us lie buffers of megabytes, which are filled up again
 * only when much of them is empty: who reads slowly but steadily takes nothing for minutes.
 */
export const READER_PATIENCE = 10;

/** Requests with a body that run at once, unless configured. Each holds up to four commits of chunks in memory. */
export const DEFAULT_MAX_UPLOADS = 64;

/** Bytes of the disk that uploads leave free, unless configured: without any, the store cannot even delete. */
export const DEFAULT_DISK_RESERVE = 64 * MIB;

/** How long the free space of the disk is believed, less what was written meanwhile. */
export const DISK_CHECK_INTERVAL = SECOND;

/** What a byte takes on the disk at the most: once in the write-ahead log, once in the database. */
export const DISK_BYTES_PER_BYTE = 2;

/** How long a project key that was found in the store is believed without asking again. */
export const KEY_CACHE_TIME = 5 * SECOND;
export const KEY_CACHE_SIZE = 10_000;

/** How long a browser stays signed in: who works with an application signs in once a day. */
export const SESSION_TIME = 24 * 60 * MINUTE;

/** Drives of one project that are being removed at once: their names are in its record, which every request needs. */
export const MAX_REMOVED_DRIVES = 100;

/** Wrong keys of one network (IPv4 /24, IPv6 /64) before further ones are told to wait. */
export const MAX_WRONG_KEYS = 20;

/** Networks whose wrong keys are remembered: some 6 MB with the wider networks around them. */
export const WRONG_KEY_ADDRESSES = 10_000;

/** A JSON body of the administration: its longest fields together have some 4000 characters. */
export const MAX_ADMIN_BODY = 65_536;

/** The head of a message at the gate, as Deno's own server has it. */
export const MAX_HEAD = 65_536;

/** Headers of a request at the gate: browsers send some 20, and common servers take 100. */
export const MAX_FIELDS = 256;

/** A target at the gate: half of what common servers take in all, twice what browsers send. */
export const MAX_TARGET = 16_384;

/** A chunk's size and its extensions, in bytes; and all trailers of a body. */
export const MAX_CHUNK_LINE = 1024;
export const MAX_TRAILERS = 8192;

/** What a connection of the gate holds of what came in: at first, and while a body or a long head comes. */
export const MIN_READ_BUFFER = 8192;
export const MAX_READ_BUFFER = 65_536;

/** How long a head may take from its first byte. */
export const HEAD_TIMEOUT = 30 * SECOND;

/**
 * How long a connection may wait for another request: longer than proxies keep unused ones (nginx 60 s, Traefik 90 s, Caddy
 * 120 s). If the server closed first, a request could meet the end of its connection, and the proxy would answer 502.
 */
export const KEEP_ALIVE_TIMEOUT = 150 * SECOND;

/** How long a connection to an application may take, and the beginning of its answer, unless configured. */
export const CONNECT_TIMEOUT = 10 * SECOND;
export const DEFAULT_APPS_TIMEOUT = MINUTE;

/** Interim answers (1xx) of an application to one request. */
export const MAX_INTERIM_ANSWERS = 16;

/** Unused connections to one application, and how long one is kept: Node.js ends them after 5 s. */
export const MAX_IDLE_UPSTREAMS = 256;
export const UPSTREAM_IDLE_TIME = 4 * SECOND;

/** How long an unused connection is taken for a request that must not be sent twice. */
export const UPSTREAM_FRESH_TIME = SECOND;

/** Applications whose unused connections are kept. */
export const MAX_UPSTREAMS = 1000;

/** How long a caller who is refused while it sends is listened to, so that it can read why. */
export const LINGER_TIME = 2 * SECOND;

/** How long the second direction of an upgraded connection lasts when the first has ended. */
export const HALF_CLOSE_TIME = 10 * SECOND;

/** How often connections are checked for being late: what happens in time is late by as much. */
export const GATE_TICK = 250;

/** How long an answer or an upgrade has run when it is judged anew, and how often then. With `KEY_CACHE_TIME`: 6 s. */
export const REJUDGE_INTERVAL = SECOND;

/** The body of a sign-in: a key and a path. */
export const MAX_SIGN_IN_BODY = 8192;

/** How long a browser may keep the answer to a preflight, in seconds. */
export const PREFLIGHT_MAX_AGE = 86_400;

/** Where the gate to applications listens, unless configured. */
export const DEFAULT_APPS_PORT = 8001;

/** What `Retry-After` says with 503, in seconds. */
export const RETRY_AFTER = 1;

/** Deno Deploy gives 5 seconds from its signal to the end: for transfers, then for the store to be closed. */
export const DEPLOY_SHUTDOWN_TIME = 4 * SECOND;
export const DEPLOY_CLOSE_TIME = SECOND / 2;

/** Between two tries to open the database of Deno Deploy. */
export const DEPLOY_REOPEN_PAUSE = SECOND;

/** An upload session's life, and the time that running transfers get at shutdown, unless configured. */
export const DEFAULT_UPLOAD_TTL = 24 * 60 * MINUTE;
export const DEFAULT_SHUTDOWN_TIMEOUT = 10 * SECOND;

/** Lines of the request log are written together: at the latest after this time, or with this many characters. */
export const LOG_FLUSH_INTERVAL = 100;
export const LOG_FLUSH_SIZE = 65_536;

/** Characters of the log that wait for a reader that takes none. Lines beyond are counted and left out. */
export const MAX_LOG_QUEUE = 4 * MIB;

/** How long the end of the program waits for such a reader. */
export const LOG_EXIT_TIME = SECOND;

/** "503 … when the store does not answer within 1 s", and how long one look at it is believed. */
export const READY_TIMEOUT = SECOND;
export const READY_KEPT = SECOND;

/** How long `kvdrive healthcheck` waits, unless told: less than the 30 s that Docker gives it. */
export const DEFAULT_HEALTHCHECK_TIMEOUT = 5 * SECOND;

/** How long the figures of projects are believed, each of which costs reading all counters. */
export const USAGE_KEPT = 10 * SECOND;

/** Projects whose figures are told one by one, those with the most bytes. Each is two series for whoever gathers them. */
export const MAX_MEASURED_PROJECTS = 10_000;
/** Pages of 4 KiB that a backup copies in one step, and its rest behind each: requests get at the disk meanwhile. */
export const BACKUP_STEP_PAGES = 256;
export const BACKUP_PAUSE = 5;

/** Steps of a backup after which the disk has to have what was written: requests wait for 2 MiB and not for more. */
export const BACKUP_SYNC_STEPS = 2;

/** How often the store's log is taken in after a long reading until it has few enough pages for any writer. */
export const LOG_ROUNDS = 8;
export const LOG_SHORT_PAGES = 256;

/** How long writers may be held up for the log to be cut. */
export const LOG_CUT_TIME = 20;

/** How often a backup is asked how far it is. */
export const BACKUP_POLL = 100;

/** Unless configured: the time between two backups of a server, how many are kept, and when a failed one is repeated. */
export const DEFAULT_BACKUP_EVERY = 24 * 60 * MINUTE;
export const DEFAULT_BACKUP_KEEP = 7;
export const BACKUP_RETRY = 10 * MINUTE;

/** How often it is looked whether a backup is due: another process or a person may have changed the folder. */
export const BACKUP_CHECK_INTERVAL = MINUTE;

/** What `kvdrive verify` finds wrong before it stops to look for more, so that memory is bounded: some megabytes. */
export const MAX_PROBLEMS = 10_000;

/** Things without an owner that are held against the list of what is to be removed in one go. */
export const VERIFY_BATCH = 10_000;

/** How long it stays known that counters were put right: much longer than counting takes. */
export const RECOUNT_MEMORY = 24 * 60 * MINUTE;
/** Parts, or small files, that a client sends or fetches at once: 4 × 10 MB in memory. */
export const TRANSFERS = 4;

/** How long a client tries again what fails, unless configured, and what has never been reached; and its pauses. */
export const DEFAULT_RETRY_TIME = 5 * MINUTE;
export const FIRST_CONTACT_TIME = 3 * SECOND;
export const RETRY_MIN_DELAY = 250;
export const RETRY_MAX_DELAY = 10 * SECOND;

/** How long a client waits for an answer, for the next bytes of one, and for the answer to a part that it sends. */
export const ANSWER_TIME = MINUTE;
export const SENT_ANSWER_TIME = 10 * MINUTE;

/** How long a client remembers an upload that was interrupted: no server keeps it for longer, as far as is known. */
export const UPLOAD_STATE_TIME = 7 * 24 * 60 * MINUTE;

/** Bytes of one segment of a path that common file systems hold. */
export const MAX_SEGMENT = 255;

/** How often a file that others keep writing is read from its beginning. */
export const MAX_READ_TRIES = 5;

/** The highest compression of deflate; an archive that claims more has one stretch of bytes for many files. */
export const MAX_DEFLATE_RATIO = 1032;
