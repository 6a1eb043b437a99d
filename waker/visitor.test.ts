import { expect, test } from '@jest/globals';
import { treatmentOf, type Treatment } from './visitor.ts';

const browser = {
  'user-agent': 'Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Gecko/20100101 Firefox/145.0',
  accept: 'text/html,application/xhtml+xml,*/*;q=0.8',
};
const curl = { 'user-agent': 'curl/8.17.0', accept: '*/*' };
const navigation = { ...browser, 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document' };

test.each<[string, Partial<Parameters<typeof treatmentOf>[0]>, Treatment]>([
  ['a page in a browser', { headers: navigation }, 'page'],
  ['a page in an old browser', { headers: browser }, 'page'],
  ['a form', { method: 'POST', headers: navigation }, 'hold'],
  ['a request of a script', { headers: { ...browser, 'sec-fetch-mode': 'cors', accept: '*/*' } }, 'hold'],
  ['curl', { headers: curl }, 'hold'],
  ['an upload', { method: 'PUT', headers: curl }, 'hold'],
  ['a client without a name', { headers: {} }, 'hold'],
  ['a webhook', { method: 'POST', headers: { 'user-agent': 'Ownerhost-Hookshot/1' } }, 'hold'],
  ['a library', { headers: { 'user-agent': 'python-requests/2.32' } }, 'hold'],
  ['HEAD', { method: 'HEAD', headers: curl }, 'refuse'],
  ['robots.txt', { path: '/robots.txt', headers: curl }, 'refuse'],
  ['favicon.ico', { path: '/favicon.ico', headers: browser }, 'refuse'],
  ['a prefetch', { headers: { ...navigation, 'sec-purpose': 'prefetch;prerender' } }, 'refuse'],
  ['an older prefetch', { headers: { ...browser, purpose: 'prefetch' } }, 'refuse'],
  [
    "an image in another site's page",
    { headers: { ...browser, 'sec-fetch-mode': 'no-cors', 'sec-fetch-dest': 'image', 'sec-fetch-site': 'cross-site' } },
    'refuse',
  ],
  [
    'an image in its own page',
    {
      headers: { ...browser, 'sec-fetch-mode': 'no-cors', 'sec-fetch-dest': 'image', 'sec-fetch-site': 'same-origin' },
    },
    'hold',
  ],
])('treats %s', (_what, given, expected) => {
  expect(treatmentOf({ method: 'GET', path: '/', headers: {}, ...given })).toBe(expected);
});

test.each([
  'Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)',
  'Slackbot-LinkExpanding 1.0 (+https://api.slack.com/robots)',
  'Twitterbot/1.0',
  'facebookexternalhit/1.1',
  'Mozilla/5.0 (Macintosh) AppleWebKit (KHTML, like Gecko) Safari/600.1 (Applebot/0.1)',
  'Mozilla/5.0 (Windows NT 6.1; WOW64) SkypeUriPreview Preview/0.5',
  'WhatsApp/2.23.20.0',
  'TelegramBot (like TwitterBot)',
  'Discordbot/2.0',
  'LinkedInBot/1.0',
  'Mattermost-Bot/1.1',
  'kube-probe/1.34',
  'GoogleHC/1.0',
  'ELB-HealthChecker/2.0',
  'Mozilla/5.0+(compatible; UptimeRobot/2.0; http://www.uptimerobot.com/)',
  'Pingdom.com_bot_version_1.4',
  'Prometheus/3.0',
  'Mozilla/5.0 zgrab/0.x',
  'Barracuda Sentinel (EE)',
  'Chrome-Lighthouse',
])('wakes nothing for %s', (agent) => {
  expect(treatmentOf({ method: 'GET', path: '/', headers: { ...navigation, 'user-agent': agent } })).toBe('refuse');
});
