import type { IncomingHttpHeaders } from 'node:http';

/** What a request to an environment that is not awake is answered with. */
export type Treatment =
  /** It is held until the service runs; it is a visit. */
  | 'hold'
  /** A person's browser loads a page: it gets the waiting page, whose script wakes the environment. */
  | 'page'
  /** It is refused, and is not a visit: a program that nobody waits for. */
  | 'refuse';

/** User agents that read addresses without a person: crawlers, link previews, scanners and health checks. */
const robots = new RegExp(
  [
    // By the convention that most follow.
    String.raw`bot\b`,
    'bot[/;_ -]',
    'crawl',
    'spider',
    'slurp',
    'preview',
    'scanner',
    String.raw`scan\b`,
    'archiver',
    'indexer',
    String.raw`\+https?://`,
    // Link previews of messengers, mail and social networks.
    ...['facebookexternalhit', 'facebookcatalog', 'meta-external', 'whatsapp', 'skypeuripreview', 'vkshare', 'embedly'],
    ...['flipboard', 'tumblr', 'bitlybot', 'quora link', 'outbrain', 'w3c_validator', 'iframely', 'nuzzel', 'viber'],
    ...[
      'snapchat',
      'line-poker',
      'redditbot',
      'mattermost',
      'zoominfo',
      'microsoft office',
      'bingpreview',
      'barkrowler',
    ],
    // Scanners of mail and of addresses.
    ...['barracuda', 'proofpoint', 'mimecast', 'symantec', 'censys', 'shodan', 'zgrab', 'masscan', 'nmap', 'nuclei'],
    ...['expanse', 'internet-measurement', 'netcraft', 'safe ?browsing', 'google-safety', 'urlscan', 'virustotal'],
    // Health checks and monitoring.
    ...[
      'kube-probe',
      'googlehc',
      'elb-healthchecker',
      'healthcheck',
      'health-check',
      'uptime',
      'pingdom',
      'statuscake',
    ],
    ...['site24x7', 'newrelic', 'datadog', 'nagios', 'check_http', 'zabbix', 'prometheus', 'blackbox', 'checkly'],
    ...['better ?stack', 'hetrixtools', 'freshping', 'nodeping', 'monitis', 'catchpoint', 'gomezagent', 'traefik'],
    // Programs that fetch pages for people who are not there.
    ...['lighthouse', 'pagespeed', 'gtmetrix', 'google-read-aloud', 'googleother', 'google-inspectiontool'],
    ...['feedfetcher', 'feedly', 'mediapartners', 'adsbot', 'yandex', 'baidu', 'duckduck', 'gptbot', 'claude-web'],
    ...['perplexity', 'bytespider', 'ia_archiver', 'heritrix', 'nutch', 'httrack', 'scrapy', 'ahrefs', 'semrush'],
  ].join('|'),
  'i',
);

const robotPaths = new Set(['/robots.txt', '/favicon.ico']);
/** Parts of pages. Requests for parts of another site's page do not count as visits. */
const parts = new Set(['image', 'style', 'script', 'font', 'audio', 'video', 'track', 'manifest', 'object', 'embed']);

export interface VisitorRequest {
  method: string;
  /** Path without the query. */
  path: string;
  headers: IncomingHttpHeaders;
}

/** Decides by a request alone; only the method, the path and what browsers say about themselves count. */
export function treatmentOf({ method, path, headers }: VisitorRequest): Treatment {
  if (method === 'HEAD' || method === 'TRACE' || robotPaths.has(path)) return 'refuse';
  if (robots.test(headers['user-agent'] ?? '')) return 'refuse';
  const purpose = `${text(headers['sec-purpose'])} ${text(headers['purpose'])} ${text(headers['x-moz'])}`;
  if (/prefetch|prerender|preview/i.test(purpose)) return 'refuse';
  if (text(headers['sec-fetch-site']) === 'cross-site' && parts.has(text(headers['sec-fetch-dest']))) return 'refuse';
  if (method !== 'GET') return 'hold';
  const mode = text(headers['sec-fetch-mode']);
  if (mode !== '') return mode === 'navigate' ? 'page' : 'hold';
  return (headers.accept ?? '').includes('text/html') ? 'page' : 'hold';
}

function text(value: string | string[] | undefined): string {
  return String(value ?? '').toLowerCase();
}
