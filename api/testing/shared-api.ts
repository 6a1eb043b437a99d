import type { Server } from 'node:http';
import { afterAll, afterEach, beforeAll, expect } from '@jest/globals';
import type { TestApi } from './test-api.ts';

/**
 * Starts one API for all tests of a block, which are requests that change nothing in the cluster: one for each of hundreds
 * of requests takes longer than they do. Passes its server to `started`.
 */
export function shareApi(start: () => Promise<TestApi>, started: (server: Server) => void): void {
  let api: TestApi;
  let server: Server;
  let writes: number;
  beforeAll(async () => {
    api = await start();
    server = api.app.listen(0);
    ({ writes } = api.cluster);
    started(server);
  });
  afterEach(() => {
    api.redis.failure = undefined;
    expect(api.cluster.writes).toBe(writes);
  });
  afterAll(() => void server.close());
}
