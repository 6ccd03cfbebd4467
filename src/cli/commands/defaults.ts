// What applies where an option is not given, for the tables of commands and for what runs them.

/** The address of a server. */
export const DEFAULT_URL = "http://127.0.0.1:8000";

/** How long failed requests are repeated. */
export const DEFAULT_RETRY_FOR = "5m";

/** Small files and parts of 10 MB in transfer at once. They are in memory while they are sent. */
export const DEFAULT_CONCURRENCY = 4;

/** Less than the 30 s that Docker allows a health check. */
export const DEFAULT_HEALTH_TIMEOUT = "5s";

/** The file of secrets. systemd reads it as root, before it switches to the server's user. */
export const DEFAULT_ENV_FILE = "/etc/kvdrive/env";

/** Events that `event list` shows, and days that `usage` shows. */
export const DEFAULT_EVENTS = 100;
export const DEFAULT_USAGE_DAYS = 30;
