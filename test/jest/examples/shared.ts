/** Files that ran in this process. */
export const files: string[] = [];
