import { beforeEach, describe, expect, test } from '@jest/globals';
import request from 'supertest';
import { GROUP, type Group } from '../../crds/group.ts';
import { ENVIRONMENT } from '../../crds/environment.ts';
import { REPOSITORY, type Repository } from '../../crds/repository.ts';
import { REUSABLE_ENVIRONMENT, reusableName } from '../../crds/reusable-environment.ts';
import { LABELS } from '../../crds/labels.ts';
import type { ResourceType } from '../../kubernetes/resource-type.ts';
import { everyRouteApi } from '../testing/every-route.ts';
import type { TestApi } from '../testing/test-api.ts';

let api: TestApi;
let token: string;

beforeEach(async () => {
  ({ api, token } = await everyRouteApi());
});

type Method = 'get' | 'post' | 'patch' | 'delete';
const send = (method: Method, path: string, body?: object) =>
  request(api.app)[method](`/api${path}`).set('x-service-token', token).send(body);
const at = { namespace: 'group-acme', name: 'shop' };
const group = () => api.cluster.all<Group>(GROUP).find(({ metadata }) => metadata.name === 'acme');
const repository = () => api.cluster.all<Repository>(REPOSITORY).find(({ metadata }) => metadata.name === 'shop');

/** Applies these fields of the spec on the server's side, as a GitOps tool does. */
function applied(type: ResourceType, object: { namespace?: string; name: string }, spec: object = {}): void {
  const managedFields = [{ manager: 'kustomize-controller', operation: 'Apply', fieldsV1: { 'f:spec': spec } }];
  api.cluster.change(type, object, { metadata: { managedFields } });
}
const old = { 'f:variables': { 'k:{"name":"OLD"}': { '.': {}, 'f:name': {} } } };

type Change = [string, Method, string, object | undefined, number];

describe('of a Group that a GitOps tool applies', () => {
  const fields = { ...old, 'f:members': { 'v:"alice@example.com"': {}, 'v:"carol@example.com"': {} } };

  test.each<Change>([
    ['the group', 'delete', '', undefined, 409],
    ['a variable of its', 'patch', '/variables', { name: 'OLD', value: '1' }, 409],
    ['a variable of its, deleted', 'delete', '/variables/OLD', undefined, 409],
    ['a member of its', 'delete', '/members/carol@example.com', undefined, 409],
    ['the caller, who leaves', 'post', '/leave', undefined, 409],
    ['another variable', 'post', '/variables', { name: 'NEW', value: '1' }, 201],
    ['another member', 'post', '/members', { name: 'bob@example.com' }, 201],
    ['roles, which it does not name', 'patch', '/members/carol@example.com', { role: 'owner' }, 200],
    ['a repository in it', 'post', '', { name: 'T', type: 'generic', params: { origin: 'https://g.example/t' } }, 201],
  ])('%s: %s %s', async (_what, method, rest, body, status) => {
    applied(GROUP, { name: 'acme' }, fields);
    const before = JSON.stringify(group()?.spec);
    const answer = await send(method, `/group/acme${rest}`, body).expect(status);
    if (status !== 409) return;
    expect(answer.body).toEqual({
      error: expect.stringMatching(/^the Group acme.* the field manager kustomize-controller.*: \w+ it in Git, or/),
    });
    expect(JSON.stringify(group()?.spec)).toBe(before);
  });
});

describe('of a Repository that a GitOps tool applies', () => {
  const fields = { ...old, 'f:displayName': {}, 'f:environmentTTLSeconds': {} };

  test.each<Change>([
    ['the repository', 'delete', '', undefined, 409],
    ['its name', 'post', '', { name: 'The shop' }, 409],
    ['a setting', 'post', '/settings', { environmentTTL: 60 }, 409],
    ['a variable of its', 'patch', '/variables', { name: 'OLD', visibility: 'buildtime' }, 409],
    ['a variable of its, deleted', 'delete', '/variables/OLD', undefined, 409],
    ['another setting', 'post', '/settings', { scheduledRebuild: { mode: 'all', hour: '03:00' } }, 200],
    ['another variable', 'post', '/variables', { name: 'NEW', value: '1' }, 201],
    ['a request for a sync', 'post', '/sync', undefined, 202],
    ['an environment of its', 'post', '/spawn', { gitRef: { name: 'main', type: 'branch' } }, 201],
  ])('%s: %s %s', async (_what, method, rest, body, status) => {
    applied(REPOSITORY, at, fields);
    const before = JSON.stringify(repository()?.spec);
    const answer = await send(method, `/repository/acme.shop${rest}`, body).expect(status);
    if (status !== 409) return;
    expect(answer.body).toEqual({
      error: expect.stringMatching(
        /^the Repository shop.* the field manager kustomize-controller.*: \w+ it in Git, or/,
      ),
    });
    expect(JSON.stringify(repository()?.spec)).toBe(before);
  });
});

test('names the field that another field manager sets', async () => {
  applied(REPOSITORY, at, { 'f:displayName': {} });
  const answer = await send('post', '/repository/acme.shop', { name: 'The shop' }).expect(409);
  expect(answer.body).toEqual({
    error:
      'the Repository shop is managed by the field manager kustomize-controller, which sets spec.displayName: ' +
      'change it in Git, or wherever it is applied from',
  });
});

describe('refuses to delete an object that contains objects of others', () => {
  test.each<[string, ResourceType, string, string]>([
    ['a group with a repository', REPOSITORY, 'shop', '/group/acme'],
    ['a group with an environment', ENVIRONMENT, 'shop-main', '/group/acme'],
    ['a repository with an environment', ENVIRONMENT, 'shop-main', '/repository/acme.shop'],
  ])('%s', async (_what, type, name, path) => {
    applied(type, { namespace: at.namespace, name });
    const answer = await send('delete', path).expect(409);
    expect(answer.body).toEqual({
      error: expect.stringMatching(/ cannot be deleted: it contains the .* the field manager kustomize-controller: /),
    });
    expect([group(), repository()].every((one) => one !== undefined)).toBe(true);
  });
});

test('permits changes of objects that kubectl created, and leaves their deletion to kubectl', async () => {
  api.cluster.change(REPOSITORY, at, { metadata: { labels: { [LABELS.managedBy]: null } } });
  await send('delete', '/repository/acme.shop').expect(409);
  await send('post', '/repository/acme.shop', { name: 'The shop' }).expect(200);
});

test('leaves the deletion of a reusable environment to the GitOps tool that applies it', async () => {
  applied(REUSABLE_ENVIRONMENT, { namespace: at.namespace, name: reusableName('shop', 'base') });
  await send('delete', '/repository/acme.shop/reusable/base').expect(409);
});

test('keeps a group that a GitOps tool applies when the account of its last member ends', async () => {
  api.addGroup('dans', ['dan@example.com']);
  await api.login('dan@example.com');
  applied(GROUP, { name: 'dans' }, { 'f:members': { 'v:"dan@example.com"': {} } });
  const answer = await send('delete', '/users/dan@example.com').expect(200);
  expect(answer.body).toEqual({ email: 'dan@example.com', groupsWithoutMembers: ['dans'] });
});
