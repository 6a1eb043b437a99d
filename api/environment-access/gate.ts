import { formatId, idOf } from '../../crds/ids.ts';
import { GATE_PATH, RETURN_PARAMETER } from '../../environment-access/paths.ts';
import { ACCESS_HEADER, openAccess, sealAccess, type Grant } from '../../environment-access/tokens.ts';
import type { AccessKey } from '../../environment-access/keys.ts';
import { newToken, type RandomBytes } from '../shared/tokens.ts';
import { challengeOf, type AccessCodes } from './codes.ts';
import { withoutOwn, type HostCookies } from './cookies.ts';
import { isFromEnvironment, isNavigation, type ForwardedRequest } from './forwarded-request.ts';
import type { AccessTarget, EnvironmentHosts } from './hosts.ts';
import type { Grants } from './grants.ts';
import { isReturnPath, returnPath, signInUrl } from './paths.ts';

/** The answer to the Ingress controller: it forwards the request after `pass`, and sends the others to the client. */
export type GateAnswer =
  | { kind: 'pass'; cookies: string | undefined }
  | { kind: 'redirect'; location: string; setCookies: readonly string[] }
  | { kind: 'refuse'; status: 401 | 403; message: string };

export interface GateOptions {
  hosts: Pick<EnvironmentHosts, 'find' | 'hostsOf' | 'urlOf'>;
  grants: Pick<Grants, 'isValid'>;
  codes: Pick<AccessCodes, 'redeem'>;
  cookies: HostCookies;
  keys: () => readonly AccessKey[];
  /** Origin of the API, where visitors log in. */
  ownOrigin: string;
  now: () => number;
  randomBytes: RandomBytes;
}

/** How long a cookie is valid; afterwards the visitor returns through the panel. */
const cookieSeconds = 12 * 3600;
/** Time to log in. */
const startSeconds = 30 * 60;
const secretPattern = /^[A-Za-z0-9_-]{43}$/;

const unknownHost = 'no environment with restricted access has this host. Check the address';
const notAllowed = `you cannot open this environment. Open its address in a browser, or send an access token in the header ${ACCESS_HEADER}`;
const tokenRefused = `the access token in the header ${ACCESS_HEADER} is not valid for this environment, or has ended. Create another one`;
const linkRefused =
  'this link has ended, or is for another browser or environment. Open the address of the environment, or ask for another link';
const fromElsewhere = 'a page of another site has sent this request. Open the environment itself';

/**
 * Decides about each request to an environment with restricted access. It only verifies what the visitor brings, and
 * vouches for nothing: whoever reaches it with a forged host gains no access by that.
 */
export class Gate {
  readonly #options: GateOptions;

  constructor(options: GateOptions) {
    this.#options = options;
  }

  /** Decides about a request; undefined: the Ingress controller did not describe it. @throws Unavailable */
  async answer(request: ForwardedRequest | undefined): Promise<GateAnswer> {
    const target = request && this.#options.hosts.find(request.host);
    if (!request || !target) return { kind: 'refuse', status: 403, message: unknownHost };
    if (target.access.mode === 'public') return pass(request);
    const url = URL.parse(request.uri, 'http://environment');
    if (url?.pathname === GATE_PATH) return this.#atGate(request, target, url.searchParams);
    return this.#decide(request, target);
  }

  /**
   * Decides about a request to one environment, for an Ingress controller that describes the host as the client named it,
   * which may differ from the host that it routes by. Answers nothing at the gate's path, to which an Ingress leads.
   * @throws Unavailable
   */
  async check(request: ForwardedRequest | undefined, environmentId: string): Promise<GateAnswer> {
    const target = request && this.#options.hosts.find(request.host);
    if (!request || !target || formatId(idOf(target.environment)) !== environmentId) {
      return { kind: 'refuse', status: 403, message: unknownHost };
    }
    return target.access.mode === 'public' ? pass(request) : this.#decide(request, target);
  }

  async #decide(request: ForwardedRequest, target: AccessTarget): Promise<GateAnswer> {
    if (request.token !== undefined) return this.#byToken(request, target, request.token);
    if (await this.#hasCookie(request, target)) return this.#fromOwnPage(request, target);
    return this.#signIn(request, target, request.uri);
  }

  async #byToken(request: ForwardedRequest, target: AccessTarget, token: string): Promise<GateAnswer> {
    const grant = this.#grantOf(token, target);
    if (grant && (await this.#options.grants.isValid(grant.grant, target))) return pass(request);
    return { kind: 'refuse', status: 401, message: tokenRefused };
  }

  async #hasCookie(request: ForwardedRequest, target: AccessTarget): Promise<boolean> {
    const { cookies, keys, grants } = this.#options;
    for (const value of cookies.values(request.cookies, 'access')) {
      const claims = openAccess(value, keys(), this.#seconds());
      if (claims?.use !== 'host' || claims.host !== request.host) continue;
      if (claims.environment !== target.environment.metadata.uid) continue;
      if (await grants.isValid(claims.grant, target)) return true;
    }
    return false;
  }

  #fromOwnPage(request: ForwardedRequest, { environment }: AccessTarget): GateAnswer {
    const own = this.#options.hosts.hostsOf(environment);
    if (isFromEnvironment(request, (host) => own.has(host))) return pass(request);
    return { kind: 'refuse', status: 403, message: fromElsewhere };
  }

  /**
   * Sends the visitor to the panel, with a challenge that only this browser can answer; refuses anything but a page.
   * @param uri where the visitor returns to
   */
  #signIn(request: ForwardedRequest, { access }: AccessTarget, uri: string): GateAnswer {
    if (!isNavigation(request)) return { kind: 'refuse', status: 401, message: notAllowed };
    const { cookies, ownOrigin, randomBytes } = this.#options;
    // Several tabs of a browser share its secret: otherwise only the last one could return.
    const known = cookies.values(request.cookies, 'start').find((value) => secretPattern.test(value));
    const secret = known ?? newToken(randomBytes);
    const visit = { host: request.host, path: returnPath(uri), challenge: challengeOf(secret) };
    return {
      kind: 'redirect',
      location: signInUrl(ownOrigin, visit, access.mode),
      setCookies: [cookies.set('start', secret, startSeconds)],
    };
  }

  async #atGate(request: ForwardedRequest, target: AccessTarget, query: URLSearchParams): Promise<GateAnswer> {
    const back = query.get(RETURN_PARAMETER);
    return back === null ? this.#enter(request, target, query) : this.#signIn(request, target, back);
  }

  /** Exchanges the code of the panel, or the token of a link, for a cookie of this host. */
  async #enter(request: ForwardedRequest, target: AccessTarget, query: URLSearchParams): Promise<GateAnswer> {
    const { host } = request;
    const { cookies, grants, hosts, keys } = this.#options;
    const [code, token] = [query.get('code'), query.get('token')];
    const entered = token === null ? await this.#byCode(request, target, code ?? '') : this.#grantOf(token, target);
    if (!entered || !(await grants.isValid(entered.grant, target))) {
      return { kind: 'refuse', status: 403, message: linkRefused };
    }
    const at = this.#seconds();
    const expiresAt = entered.expiresAt ?? at + cookieSeconds;
    const environment = target.environment.metadata.uid ?? '';
    const cookie = sealAccess({ use: 'host', host, environment, grant: entered.grant, expiresAt }, keys(), at);
    const asked = entered.path ?? query.get('path') ?? '/';
    return {
      kind: 'redirect',
      location: hosts.urlOf(host, isReturnPath(asked) ? asked : '/'),
      setCookies: [
        cookies.set('access', cookie, expiresAt - at),
        ...(code === null ? [] : [cookies.set('start', '', 0)]),
      ],
    };
  }

  async #byCode(request: ForwardedRequest, target: AccessTarget, code: string): Promise<Entered | undefined> {
    const { codes, cookies } = this.#options;
    const granted = await codes.redeem(code, request.host, cookies.values(request.cookies, 'start'));
    return granted?.environment === target.environment.metadata.uid ? granted : undefined;
  }

  /** Returns what a link or a header grants; it is not for one host, so that it works for aliases too. */
  #grantOf(token: string, target: AccessTarget): Entered | undefined {
    const claims = openAccess(token, this.#options.keys(), this.#seconds());
    if (claims?.use !== 'environment' || claims.environment !== target.environment.metadata.uid) return undefined;
    return claims;
  }

  #seconds(): number {
    return Math.floor(this.#options.now() / 1000);
  }
}

/** What a code or a token grants, and for how long if that is limited. */
interface Entered {
  grant: Grant;
  path?: string;
  /** In seconds since 1970. */
  expiresAt?: number;
}

function pass({ cookies }: ForwardedRequest): GateAnswer {
  return { kind: 'pass', cookies: withoutOwn(cookies) };
}
