import { on } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { WebSocket } from 'ws';
import { z } from 'zod';
import { decodeMessages, type BuildLogMessage } from '../../build-logs/message.ts';
import { localhostLookup, send, type Answer } from './local-http.ts';

const environmentSchema = z.looseObject({
  id: z.string(),
  status: z.enum(['empty', 'created', 'building', 'built']),
  /** Omitted if nothing is public. */
  weburl: z.string().default(''),
  aliases: z.record(z.string(), z.string()),
  build: z.looseObject({ number: z.int(), result: z.string() }).optional(),
  conditions: z
    .array(z.looseObject({ type: z.string(), status: z.string(), reason: z.string(), message: z.string() }))
    .optional(),
});
export type EnvironmentAnswer = z.infer<typeof environmentSchema>;

/** A REST client of Coppice as users would write one, for the sample and the end-to-end tests. */
export class RestClient {
  readonly #apiUrl: string;
  readonly #pollMs: number;
  token: string | undefined;
  email: string | undefined;

  /**
   * Creates a client.
   * @param pollMs pause between two requests that wait for the same thing; long, because tests wait for many at once
   */
  constructor(apiUrl: string, pollMs = 500) {
    this.#apiUrl = apiUrl;
    this.#pollMs = pollMs;
  }

  /** Sends any request; returns the response unchanged. */
  send(method: string, path: string, body?: unknown, headers: Record<string, string> = {}): Promise<Answer> {
    return send(`${this.#apiUrl}${path}`, {
      method,
      headers: {
        ...(this.token !== undefined && { 'x-service-token': this.token }),
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
  }

  /**
   * Sends a request, again for at most `seconds` while the API is too busy to accept it, as any client is to expect.
   * What got no answer is not sent again, since the API may have carried it out.
   */
  async sendUntilAccepted(
    method: string,
    path: string,
    body: unknown,
    seconds: number,
    isRefused: (answer: Answer) => boolean = ({ status }) => status === 503,
  ): Promise<Answer> {
    const end = Date.now() + seconds * 1000;
    for (;;) {
      const answer = await this.send(method, path, body);
      if (!isRefused(answer) || Date.now() > end) return answer;
      await delay(this.#pollMs);
    }
  }

  /** Sends a request that must succeed; throws with the API's message otherwise. */
  async call<T>(schema: z.ZodType<T>, method: string, path: string, body?: unknown): Promise<T> {
    const answer = await this.send(method, path, body);
    if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.status} ${answer.text}`);
    return schema.parse(JSON.parse(answer.text));
  }

  async login(email: string, password: string): Promise<void> {
    const { token } = await this.call(z.object({ token: z.string() }), 'POST', '/api/user/login', { email, password });
    this.token = token;
    this.email = email;
  }

  /** Returns a client with a new API token of this user. */
  async withApiToken(name: string, expires: Date, readOnly = false): Promise<RestClient> {
    const body = { name, readOnly, expirationTime: expires.toISOString() };
    const client = new RestClient(this.#apiUrl, this.#pollMs);
    client.token = (await this.call(z.object({ token: z.string() }), 'POST', '/api/user/tokens', body)).token;
    return client;
  }

  /** Registers a user unless it exists, and logs in. */
  async registerAndLogin(email: string, password: string): Promise<void> {
    const answer = await this.send('POST', '/api/user/register', { email, password });
    if (answer.status !== 201 && answer.status !== 409) throw new Error(`register: ${answer.status} ${answer.text}`);
    await this.login(email, password);
  }

  environment(id: string): Promise<EnvironmentAnswer> {
    return this.call(environmentSchema, 'GET', `/api/environment/${id}?build=false`);
  }

  /** Waits until the predicate holds for the environment; throws with its conditions after `seconds`. */
  async waitForEnvironment(
    id: string,
    isReached: (environment: EnvironmentAnswer) => boolean,
    seconds = 180,
    onPoll: (environment: EnvironmentAnswer) => void = () => undefined,
  ): Promise<EnvironmentAnswer> {
    const end = Date.now() + seconds * 1000;
    for (;;) {
      const environment = await this.environment(id);
      onPoll(environment);
      if (isReached(environment)) return environment;
      if (Date.now() > end) throw new Error(`gave up after ${seconds} s: ${JSON.stringify(environment, null, 2)}`);
      await delay(this.#pollMs);
    }
  }

  /**
   * Yields the messages of an environment's build log, from the start or after `from`, until its end message.
   * @returns the close code
   */
  log(id: string, parameters: Record<string, string> = {}): AsyncGenerator<BuildLogMessage, number> {
    return this.#stream(`/api/environment/${id}/build/logs`, parameters);
  }

  /** Yields the messages of a service's log, its last ones or those after `from`, and new ones. @returns the close code */
  serviceLog(
    id: string,
    service: string,
    parameters: Record<string, string> = {},
  ): AsyncGenerator<BuildLogMessage, number> {
    return this.#stream(`/api/environment/${id}/services/${service}/logs`, parameters);
  }

  async *#stream(path: string, parameters: Record<string, string>): AsyncGenerator<BuildLogMessage, number> {
    const query = new URLSearchParams(parameters).toString();
    const url = `${this.#apiUrl.replace(/^http/, 'ws')}${path}${query && `?${query}`}`;
    const socket = new WebSocket(url, { headers: { 'x-service-token': this.token ?? '' }, lookup: localhostLookup });
    let code = 1006;
    socket.once('close', (given: number) => (code = given));
    const messages = on(socket, 'message', { close: ['close'] }) as AsyncIterable<[Buffer]>;
    try {
      for await (const [data] of messages) yield* decodeMessages(data.toString('utf8'));
      return code;
    } finally {
      socket.terminate();
    }
  }
}
