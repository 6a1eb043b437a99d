import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { localFolder } from './paths.ts';
import { Problem } from './problem.ts';

export const connectionFile = join(localFolder, 'connection.json');

const connectionSchema = z.object({
  /** The REST API, such as http://coppice.localhost:8080. */
  apiUrl: z.url(),
  /** The Ingress controller itself, for requests with a Host header of their own. */
  ingressUrl: z.url(),
  kubeconfig: z.string(),
  /** host:port of the registry, as the cluster calls it. */
  registry: z.string(),
  gitUrl: z.url(),
  /** The user that the sample registered. */
  email: z.email(),
  password: z.string(),
});
export type Connection = z.infer<typeof connectionSchema>;

/** Leaves .local/connection.json, readable by this user alone, for scripts and tests. */
export function writeConnection(connection: Connection): void {
  mkdirSync(localFolder, { recursive: true });
  writeFileSync(connectionFile, `${JSON.stringify(connectionSchema.parse(connection), null, 2)}\n`, { mode: 0o600 });
  chmodSync(connectionFile, 0o600); // the mode above counts for a new file only
}

/** What `npm run up` left. Throws a Problem when it did not run. */
export function readConnection(): Connection {
  let text: string;
  try {
    text = readFileSync(connectionFile, 'utf8');
  } catch (error) {
    throw new Problem(`There is no ${connectionFile}: start the cluster with \`npm run up\`.`, { cause: error });
  }
  return connectionSchema.parse(JSON.parse(text));
}
