import { z } from 'zod';
import { readVariables } from '../../process/variables.ts';

export interface BrowserConfig {
  port: number;
  logLevel: 'debug' | 'info' | 'warn' | 'error';
  environmentsUrl: string;
  /** Path of Chromium. */
  executable: string;
  /** Maximum memory of one browser, in bytes. */
  maxBytes: number;
}

const environmentSchema = z.object({
  BROWSER_PORT: z.coerce.number().int().min(0).max(65_535).default(3002),
  LOG_LEVEL: z.enum(['debug', 'info', 'warn', 'error']).default('info'),
  ENVIRONMENTS_URL: z.url({ protocol: /^https?$/ }),
  /** Memory limit of the container in MiB, and number of concurrent runs. */
  MEMORY_MIB: z.coerce.number().int().min(1).default(2048),
  RUNS: z.coerce.number().int().min(1).default(3),
  CHROMIUM: z.string().default('/usr/bin/chromium'),
});

/** Parses the configuration. @throws Error that names each missing or invalid variable */
export function parseBrowserConfig(variables: Record<string, string | undefined>): BrowserConfig {
  const data = readVariables(environmentSchema, variables);
  return {
    port: data.BROWSER_PORT,
    logLevel: data.LOG_LEVEL,
    environmentsUrl: data.ENVIRONMENTS_URL,
    executable: data.CHROMIUM,
    // One share more than browsers: for this process, and for what a page allocates before the limit is noticed.
    maxBytes: Math.floor((data.MEMORY_MIB * 1024 * 1024) / (data.RUNS + 1)),
  };
}
