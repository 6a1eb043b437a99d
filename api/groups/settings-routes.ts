import { z } from 'zod';
import { emailField } from '../http/parse.ts';
import type { Group } from '../../crds/group.ts';
import { canReadValues } from '../auth/access.ts';
import type { Caller } from '../auth/caller.ts';
import type { Directory } from '../auth/visibility.ts';
import { APPLIED_BY_OTHERS } from '../cluster/ownership.ts';
import { endpoint, type Endpoint } from '../http/endpoint.ts';
import type { AccountCaps } from '../limits/account-caps.ts';
import { variableRoutes } from '../variables/routes.ts';
import type { VariableService } from '../variables/variable-service.ts';
import { variableViewSchema } from '../variables/variable-view.ts';
import type { GroupService } from './group-service.ts';
import { invitedMemberViewSchema, memberViewSchema, type MemberService } from './member-service.ts';
import { ROLES } from './roles.ts';

const roleField = z.enum(ROLES, { error: `must be one of ${ROLES.join(', ')}` });
const addMemberSchema = z.object({ name: emailField, role: roleField.default('member') });
const changeMemberSchema = z.object({ role: roleField });

const groupSettingsSchema = z
  .object({ variables: z.array(variableViewSchema), members: z.array(memberViewSchema) })
  .meta({ id: 'GroupSettings' });

export interface GroupSettingsRoutesOptions {
  directory: Directory;
  groups: Pick<GroupService, 'awaitNamespace'>;
  members: MemberService;
  variables: VariableService<Group>;
  caps: Pick<AccountCaps, 'requireVariable'>;
}

/** Routes of a group's settings, variables and members. */
export function groupSettingsRoutes({
  directory,
  groups,
  members,
  variables,
  caps,
}: GroupSettingsRoutesOptions): Endpoint[] {
  const path = '/api/group/{groupID}';
  const hasRepositories = (group: Group) => directory.repositories(group).length > 0;
  const find = (caller: Caller, { groupID }: { groupID: string }) => directory.group(caller, groupID);
  const findMember = (caller: Caller, { groupID, memberEmail }: { groupID: string; memberEmail: string }) => ({
    group: find(caller, { groupID }),
    email: memberEmail.toLowerCase(),
  });

  return [
    endpoint({
      method: 'get',
      path: `${path}/settings`,
      summary: "Returns a group's variables and members",
      find,
      writes: false,
      answer: groupSettingsSchema,
      run: async ({ caller, target }) => ({
        variables: await variables.list(target, canReadValues(caller)),
        members: members.views(target),
      }),
    }),
    ...variableRoutes({ path, find, variables, caps, ready: (group) => groups.awaitNamespace(group) }),
    endpoint({
      method: 'post',
      path: `${path}/members`,
      summary: 'Adds a member by e-mail address',
      find,
      writes: true,
      body: addMemberSchema,
      status: 201,
      answer: z.array(invitedMemberViewSchema),
      also: {
        403: 'The token does not permit this, or a member who is not an owner adds an owner.',
        409: `The address is a member already, or the group has too many members. ${APPLIED_BY_OTHERS}`,
      },
      run: async ({ caller: { user }, target, body }) => members.add(target, user, body.name, body.role),
    }),
    endpoint({
      method: 'delete',
      path: `${path}/members/{memberEmail}`,
      summary: 'Removes a member; returns the remaining members',
      find: findMember,
      writes: true,
      answer: z.array(memberViewSchema),
      also: {
        403: 'The token does not permit this, or a member who is not an owner removes an owner.',
        409: `It is the last member or the last owner, or the caller is the only member who sees the group. ${APPLIED_BY_OTHERS}`,
      },
      run: async ({ caller: { user }, target: { group, email } }) => {
        const mustLeaveOthers = email === user.email && hasRepositories(group);
        return members.views(await members.remove(group, user.email, email, mustLeaveOthers));
      },
    }),
    endpoint({
      method: 'patch',
      path: `${path}/members/{memberEmail}`,
      summary: "Changes a member's role; returns the members (extension)",
      find: findMember,
      writes: true,
      body: changeMemberSchema,
      answer: z.array(memberViewSchema),
      also: {
        403: 'The token does not permit this, or the caller is not an owner.',
        409: `No other owner sees the group. ${APPLIED_BY_OTHERS}`,
      },
      run: async ({ caller: { user }, target: { group, email }, body: { role } }) =>
        members.setRole(group, user.email, email, role),
    }),
    endpoint({
      method: 'post',
      path: `${path}/leave`,
      summary: 'Removes the caller from the group',
      description: 'A group created through the API is deleted with its last member.',
      find,
      writes: true,
      answer: z.object({}),
      also: {
        409: `No other owner sees the group, or it has repositories and no other member sees it. ${APPLIED_BY_OTHERS}`,
      },
      run: async ({ caller, target }) => {
        await members.leave(target, caller.user.email, hasRepositories(target));
        return {};
      },
    }),
  ];
}
