import { expect, test } from '@jest/globals';
import type { Build } from '../../../service-file/schema.ts';
import { sampleContext, sampleService } from '../objects/testing/sample-context.ts';
import { serviceFacts } from './service-facts.ts';

const build = { context: '.' } as unknown as Build;
const web = sampleService({
  ...{ name: 'web', image: undefined, build, ports: [80, 8080] },
  dependsOn: [{ service: 'db', condition: 'started', required: true }] as never,
});
const db = sampleService({ name: 'db' });
const migrate = sampleService({ name: 'migrate', image: undefined, imageOf: 'web', runs: 'once' });
const context = sampleContext({
  services: [db, migrate, web],
  publicRoutes: [
    { service: 'web', port: 80, path: '/' },
    { service: 'web', port: 8080, path: '/api', alias: 'admin' },
  ],
});

test('reports ports, dependencies and addresses of a service', () => {
  expect(serviceFacts(context, web)).toEqual({
    built: true,
    ports: [80, 8080],
    dependsOn: ['db'],
    addresses: ['http://shop-main--acme.env.localhost:8080/', 'http://admin---shop-main--acme.env.localhost:8080/api'],
  });
});

test('reports that a job runs the image built for its service', () => {
  expect(serviceFacts(context, migrate)).toEqual({ job: true, built: true });
});

test('reports nothing for a service that has only an image', () => {
  expect(serviceFacts(context, db)).toEqual({});
});
