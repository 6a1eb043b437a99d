// The types of the REST API's answers, from their declarations. The panel contains no code of the API.
import type { RepositoryView } from '../../api/repositories/repository-view.ts';
import type { EnvironmentItem } from './items.ts';

export type { BuildView } from '../../api/environments/build-view.ts';
export type { EffectiveVariables } from '../../api/environment-details/effective-variables.ts';
export type { EventView } from '../../api/environment-details/events-view.ts';
export type { GroupUsage } from '../../api/environment-details/group-usage.ts';
export type { Usage } from '../../api/environment-details/usage.ts';
export type { EnvironmentVisit, SharedView } from '../../api/environment-access/routes.ts';
export type { EnvironmentView, SpawnedView } from '../../api/environments/environment-view-schema.ts';
export type { TestsView } from '../../api/environments/tests-view.ts';
export type { InvitationView } from '../../api/users/group-invitations.ts';
export type { InvitedMemberView, MemberView } from '../../api/groups/member-service.ts';
export type { GroupItem as GroupListItem, GroupView } from '../../api/groups/group-view.ts';
export type { ConditionView } from '../../api/http/condition-view.ts';
export type { RepositorySettingsView } from '../../api/repositories/repository-settings.ts';
export type { RulesCheckView } from '../../api/repositories/rules-check.ts';
export type { RepositoryView } from '../../api/repositories/repository-view.ts';
export type { ApiTokenView } from '../../api/user-records/api-token.ts';
export type { SessionView } from '../../api/users/session-routes.ts';
export type { UserView } from '../../api/users/user-view.ts';
export type { OverridesView } from '../../api/overrides/override-view.ts';
export type { VariableView } from '../../api/variables/variable-view.ts';

/** A repository without its environments, which are read in pages. */
export type RepositoryHead = Omit<RepositoryView, 'environments'>;

export type GitRef = EnvironmentItem['gitRef'];

/** GET /api/users */
export interface Account {
  email: string;
  verified: boolean;
  invited: boolean;
  administrator: boolean;
}
