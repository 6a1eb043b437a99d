import { describe, expect, test } from '@jest/globals';
import {
  forwardedRequest,
  isFromEnvironment,
  isNavigation,
  originalRequest,
  type ForwardedRequest,
} from './forwarded-request.ts';

const base = { 'x-forwarded-host': 'shop.env.example', 'x-forwarded-method': 'GET', 'x-forwarded-uri': '/a?b' };

test.each<[string, object, Partial<ForwardedRequest> | undefined]>([
  ['the headers of the Ingress controller', {}, { host: 'shop.env.example', method: 'GET', uri: '/a?b' }],
  ['a port', { 'x-forwarded-host': 'Shop.Env.Example:8080' }, { host: 'shop.env.example' }],
  ['a final dot', { 'x-forwarded-host': 'shop.env.example.:80' }, { host: 'shop.env.example' }],
  ['an upgrade', { 'sec-websocket-key': 'x' }, { isUpgrade: true }],
  ['a token', { 'x-coppice-environment-access': 't' }, { token: 't' }],
  ['no host, as in HTTP/1.0', { 'x-forwarded-host': undefined }, undefined],
  ['two hosts', { 'x-forwarded-host': 'a.env.example, b.env.example' }, undefined],
  ['an address', { 'x-forwarded-host': '[::1]:80' }, undefined],
  ['a user', { 'x-forwarded-host': 'shop.env.example@evil.example' }, undefined],
  ['no method', { 'x-forwarded-method': undefined }, undefined],
  ['a whole URL', { 'x-forwarded-uri': 'http://evil.example/' }, undefined],
])('reads %s', (_what, headers, expected) => {
  const read = forwardedRequest({ ...base, ...headers });
  if (expected === undefined) expect(read).toBeUndefined();
  else expect(read).toMatchObject(expected);
});

describe('the headers of ingress-nginx', () => {
  const original = { 'x-original-url': 'https://Shop.Env.Example:8443/a?b', 'x-original-method': 'POST' };

  test.each<[string, object, Partial<ForwardedRequest> | undefined]>([
    ['a URL', {}, { host: 'shop.env.example', method: 'POST', uri: '/a?b' }],
    ['nothing of the client', { ...base }, { host: 'shop.env.example', method: 'POST', uri: '/a?b' }],
    ['no URL, with the headers of Traefik', { ...base, 'x-original-url': undefined }, undefined],
    ['no method', { 'x-original-method': undefined }, undefined],
    ['no host', { 'x-original-url': 'http:///a' }, undefined],
    ['no path', { 'x-original-url': 'http://shop.env.example?x' }, undefined],
    ['a user', { 'x-original-url': 'http://shop.env.example@evil.example/' }, undefined],
    ['a URL in the path', { 'x-original-url': 'http://a.example/http://b.example/' }, { host: 'a.example' }],
    ['a line break', { 'x-original-url': 'http://a.example/\nhttp://b.example/' }, undefined],
  ])('are read with %s', (_what, headers, expected) => {
    const read = originalRequest({ ...original, ...headers });
    if (expected === undefined) expect(read).toBeUndefined();
    else expect(read).toMatchObject(expected);
  });
});

const request = (headers: object): ForwardedRequest => {
  const read = forwardedRequest({ ...base, ...headers });
  if (!read) throw new Error('the headers are not valid');
  return read;
};

test.each<[string, object, boolean]>([
  ['a page', { accept: 'text/html,*/*' }, true],
  ['a page, by its metadata', { accept: '*/*', 'sec-fetch-mode': 'navigate' }, true],
  ['a script that names HTML', { accept: 'text/html', 'sec-fetch-mode': 'cors' }, false],
  ['a program', { accept: '*/*' }, false],
  ['a form', { accept: 'text/html', 'x-forwarded-method': 'POST' }, false],
  ['a WebSocket', { accept: 'text/html', 'sec-websocket-key': 'x' }, false],
])('decides whether to redirect %s', (_what, headers, expected) => {
  expect(isNavigation(request(headers))).toBe(expected);
});

describe('a request with a cookie', () => {
  const own = (host: string) => host === 'shop.env.example' || host === 'api---shop.env.example';
  const alias = 'https://api---shop.env.example';
  const evil = 'https://evil.env.example';
  const opened = { 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document' };

  test.each<[string, object]>([
    ['of the same origin', { 'sec-fetch-site': 'same-origin', 'x-forwarded-method': 'POST' }],
    ['typed by the visitor', { 'sec-fetch-site': 'none', ...opened }],
    [
      'that follows a link of another site',
      { 'sec-fetch-site': 'cross-site', ...opened, referer: 'https://git.example/' },
    ],
    ['that follows a link over plain HTTP', { accept: 'text/html', referer: 'http://git.example/' }],
    ['of an alias', { 'sec-fetch-site': 'same-site', origin: alias, 'x-forwarded-method': 'POST' }],
    ['of an alias for an image', { 'sec-fetch-site': 'same-site', 'sec-fetch-mode': 'no-cors', referer: `${alias}/` }],
    ['for a WebSocket of its own page', { 'sec-websocket-key': 'x', origin: 'https://shop.env.example' }],
    ['of a program', {}],
  ])('is accepted %s', (_what, headers) => {
    expect(isFromEnvironment(request(headers), own)).toBe(true);
  });

  test.each<[string, object]>([
    [
      'a form of another environment',
      { 'sec-fetch-site': 'same-site', ...opened, origin: evil, 'x-forwarded-method': 'POST' },
    ],
    [
      'a script of another environment',
      { 'sec-fetch-site': 'same-site', 'sec-fetch-mode': 'no-cors', referer: `${evil}/` },
    ],
    ['a page that hides its address', { 'sec-fetch-site': 'same-site', 'sec-fetch-mode': 'no-cors' }],
    [
      'a frame of another environment',
      { 'sec-fetch-site': 'same-site', 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'iframe' },
    ],
    ['a WebSocket of another environment', { 'sec-websocket-key': 'x', origin: evil }],
    ['a WebSocket without an origin', { 'sec-websocket-key': 'x' }],
    ['an opaque origin', { origin: 'null', 'x-forwarded-method': 'POST' }],
    ['a write without an origin', { 'x-forwarded-method': 'POST' }],
    ['a script of another environment over plain HTTP', { referer: 'http://evil.env.example/', accept: '*/*' }],
  ])('is refused from %s', (_what, headers) => {
    expect(isFromEnvironment(request(headers), own)).toBe(false);
  });
});
