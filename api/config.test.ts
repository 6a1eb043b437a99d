import { expect, test } from '@jest/globals';
import { parseConfig } from './config.ts';

const min = {
  API_URL: 'http://coppice.localhost:8080',
  ENVIRONMENTS_URL: 'http://env.localhost:8080',
  REDIS_URL: 'redis://redis:6379',
};

test('needs only the required variables', () => {
  expect(parseConfig({ ...min, REGISTRATION: '' })).toEqual({
    port: 3000,
    healthPort: 3001,
    logLevel: 'info',
    usersNamespace: 'coppice-users',
    ownOrigin: 'http://coppice.localhost:8080',
    webAddress: { scheme: 'http', domain: 'env.localhost', port: 8080 },
    accessPort: 3002,
    accessKeysFolder: '/etc/coppice-access-keys',
    defaultAccess: 'public',
    ownVariables: { environmentsUrl: new URL('http://env.localhost:8080'), registry: '' },
    redis: { url: 'redis://redis:6379', password: undefined },
    registration: { mode: 'closed', domains: [], provesAddress: false },
    administrators: [],
    maxEnvironmentsPerGroup: 200,
    limits: { loginsPerMinute: 10, requestsPerMinute: 1200 },
    budgets: {
      requestMemoryBytes: 64 * 1024 * 1024,
      account: { groups: 50, repositories: 200, environments: 2000, textBytes: 4 * 1024 * 1024 },
      written: { perMinute: 4 * 1024 * 1024, perHour: 64 * 1024 * 1024 },
    },
    shell: { isEnabled: false, allowsForks: false, idleMs: 1_800_000 },
    trustedProxies: 0,
    trustedProxyCidrs: [],
    tester: { url: undefined, tokenFile: '/etc/coppice-tester/token' },
  });
});

test('reads the optional variables', () => {
  const more = {
    PORT: '80',
    REGISTRATION: 'domains',
    REGISTRATION_DOMAINS: 'A.example, b.example',
    TRUSTED_PROXIES: '1',
    TRUSTED_PROXY_CIDRS: '10.42.0.0/16, fd00::/8',
    METRICS_TOKEN: 'a-token-of-16-characters',
    SHELL_ENABLED: 'true',
    SHELL_FORKS: 'true',
    SHELL_IDLE_SECONDS: '60',
    ADMINISTRATORS: 'Root@example.com,ann@example.com',
    ADMINISTRATOR_PASSWORD: 'correct horse',
    OIDC_ISSUER: 'https://login.example/realms/acme',
    OIDC_CLIENT_ID: 'coppice',
  };
  expect(parseConfig({ ...min, ...more, ENVIRONMENTS_URL: 'https://envs.example' })).toMatchObject({
    port: 80,
    webAddress: { scheme: 'https', domain: 'envs.example' },
    registration: { mode: 'domains', domains: ['a.example', 'b.example'], provesAddress: false },
    shell: { isEnabled: true, allowsForks: true, idleMs: 60_000 },
    trustedProxies: 1,
    trustedProxyCidrs: ['10.42.0.0/16', 'fd00::/8'],
    metricsToken: 'a-token-of-16-characters',
    administrators: ['root@example.com', 'ann@example.com'],
    oidc: { clientId: 'coppice', landingPage: '/' },
    firstAdministrator: { email: 'root@example.com', password: 'correct horse' },
  });
});

test('names every invalid variable, and no value', () => {
  const wrong = { API_URL: 'coppice', REDIS_URL: 'http://:hunter2@redis', PORT: '99999', REGISTRATION: 'domains' };
  const message = /^(?!.*hunter2).*API_URL.*ENVIRONMENTS_URL.*REDIS_URL/;
  expect(() => parseConfig(wrong)).toThrow(message);
  expect(() => parseConfig({ ...min, OIDC_ISSUER: 'https://login.example' })).toThrow(/OIDC_CLIENT_ID/);
  const plain = { OIDC_ISSUER: 'http://login.example', OIDC_CLIENT_ID: 'coppice' };
  expect(() => parseConfig({ ...min, ...plain })).toThrow(/OIDC_ISSUER.*https/);
  const both = { OIDC_ISSUER: 'https://login.example', OIDC_CLIENT_ID: 'coppice', REGISTRATION_PROVES_ADDRESS: 'true' };
  expect(() => parseConfig({ ...min, ...both })).toThrow(/REGISTRATION_PROVES_ADDRESS.*OIDC_ISSUER/);
  expect(() => parseConfig({ ...min, OIDC_LANDING_PAGE: '//evil.example' })).toThrow(/OIDC_LANDING_PAGE/);
  expect(() => parseConfig({ ...min, ADMINISTRATORS: 'root' })).toThrow(/ADMINISTRATORS/);
  expect(() => parseConfig({ ...min, ADMINISTRATOR_PASSWORD: 'short' })).toThrow(
    /^(?!.*short).*ADMINISTRATOR_PASSWORD/,
  );
  expect(() => parseConfig({ ...min, REGISTRATION: 'domains' })).toThrow(/REGISTRATION_DOMAINS/);
});
