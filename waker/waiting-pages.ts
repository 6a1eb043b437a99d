import { randomBytes } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { refuse, refuseAsleep, refuseMany, RETRY_SECONDS, UNCACHED } from './answers.ts';
import { canWakeByVisit, type Environments } from './environments.ts';
import type { RequestSlots } from './request-slots.ts';
import { PROOF_HEADER, waitingPage } from './page.ts';
import { progressOf } from './progress.ts';
import type { Proofs } from './proof.ts';
import type { Exchange, Outcome, Visit } from './visit.ts';
import type { Visits } from './visits.ts';
import type { Waits } from './waits.ts';

export interface WaitingPagesOptions {
  environments: Environments;
  /** Streams of events of waiting pages; they wake nothing. */
  streams: RequestSlots;
  visits: Pick<Visits, 'report'>;
  proofs: Proofs;
  waits: Pick<Waits, 'nextChange'>;
  /** How long a stream lasts, in milliseconds. */
  holdMs: number;
}

/** How often a stream looks for progress that no message reports, in milliseconds. */
const progressCheckMs = 1000;

/** Serves the page that browsers see while the services start, and the requests of its script. */
export class WaitingPages {
  readonly #options: WaitingPagesOptions;

  constructor(options: WaitingPagesOptions) {
    this.#options = options;
  }

  /** Answers a browser with the page, whose script wakes the environment. */
  show(response: ServerResponse, { environment, host }: Visit): void {
    const nonce = randomBytes(16).toString('base64');
    const { html, policy } = waitingPage({ environment, proof: this.#options.proofs.sign(host), nonce });
    response.writeHead(503, {
      'content-type': 'text/html; charset=utf-8',
      'content-security-policy': policy,
      'retry-after': String(RETRY_SECONDS),
      'x-robots-tag': 'noindex',
      'referrer-policy': 'same-origin',
      ...UNCACHED,
    });
    response.end(html);
  }

  /** Wakes the environment for the script of a page. */
  wake({ request, response }: Exchange, { environment, host }: Visit): Outcome {
    const { proofs, visits } = this.#options;
    const proof = String(request.headers[PROOF_HEADER] ?? '');
    if (
      request.method !== 'POST' ||
      !isFromPage(request) ||
      environment.wakeOn !== 'visit' ||
      !proofs.isValid(host, proof)
    ) {
      refuse(response, 403, 'only the script of a waiting page wakes an environment');
      return 'refused';
    }
    visits.report(environment.key);
    response.writeHead(202, UNCACHED).end();
    return 'own';
  }

  /** Streams how the services start, until they run. */
  async streamProgress({ request, response, closed }: Exchange, visit: Visit): Promise<Outcome> {
    const { environments, streams, waits, holdMs } = this.#options;
    const { environment, host, treatment } = visit;
    const { key } = environment;
    if (request.method !== 'GET' || !isFromPage(request) || treatment === 'refuse') {
      refuse(response, 403, 'only a waiting page can read how the services start');
      return 'refused';
    }
    if (!canWakeByVisit(environment)) {
      refuseAsleep(response);
      return 'refused';
    }
    const release = streams.take(environment);
    if (!release) {
      refuseMany(response);
      return 'full';
    }
    try {
      response.writeHead(200, { 'content-type': 'text/event-stream', 'x-accel-buffering': 'no', ...UNCACHED });
      const until = Date.now() + holdMs;
      let sent = '';
      for (let isReady = false; !isReady && !closed.aborted && Date.now() < until;) {
        const progress = progressOf(environments.get(key), host);
        const text = JSON.stringify(progress);
        if (text !== sent) response.write(`data: ${text}\n\n`);
        sent = text;
        isReady = progress.ready;
        if (!isReady) await waits.nextChange(key, progressCheckMs, closed);
      }
      response.end();
      return 'own';
    } finally {
      release();
    }
  }
}

/** Returns whether a page of the same origin, or a client that is not a browser, sent the request. */
function isFromPage({ headers }: IncomingMessage): boolean {
  const site = headers['sec-fetch-site'];
  return site === undefined || site === 'same-origin';
}
