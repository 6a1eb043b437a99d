/** The command of a session that names none: bash if the image has it, else sh. */
export const DEFAULT_SHELL = ['sh', '-c', 'if command -v bash >/dev/null 2>&1; then exec bash; else exec sh; fi'];
