/** The longest time that the trash of a project keeps files, in days. */
export const MAX_TRASH_DAYS = 365;

/** The name of the project that the first start creates. */
export const FIRST_PROJECT_NAME = "My files";
