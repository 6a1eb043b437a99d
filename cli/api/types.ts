// The shapes of the REST API's answers and bodies, from their declarations. Types alone: no code of the API is bundled.
import type { z } from 'zod';
import type { spawnSchema } from '../../api/environments/environment-parameters.ts';
import type { EnvironmentView } from '../../api/environments/environment-view-schema.ts';
import type { EnvironmentPage } from '../../api/overview/environment-list.ts';
import type { Overview } from '../../api/overview/overview.ts';
import type { TestsView } from '../../api/environments/tests-view.ts';

export type { Change } from '../../api/events/change.ts';
export type { AcceptedRequest, BuildView } from '../../api/environments/build-view.ts';
export type { SpawnedView } from '../../api/environments/environment-view-schema.ts';
export type { ListedEnvironment } from '../../api/environments/listed-environment.ts';
export type { SharedView } from '../../api/environment-access/routes.ts';
export type { EffectiveVariables } from '../../api/environment-details/effective-variables.ts';
export type { EventView } from '../../api/environment-details/events-view.ts';
export type { GroupItem, GroupView } from '../../api/groups/group-view.ts';
export type { InvitedMemberView, MemberView } from '../../api/groups/member-service.ts';
export type { SearchResults } from '../../api/overview/search.ts';
export type { RepositorySettingsView } from '../../api/repositories/repository-settings.ts';
export type { RulesCheckView } from '../../api/repositories/rules-check.ts';
export type { RepositoryView } from '../../api/repositories/repository-view.ts';
export type { CheckResult } from '../../api/service-file-check/check.ts';
export type { ApiTokenView } from '../../api/user-records/api-token.ts';
export type { UserView } from '../../api/users/user-view.ts';
export type { OverridesView } from '../../api/overrides/override-view.ts';
export type { VariableView } from '../../api/variables/variable-view.ts';
export type { EnvironmentPage, EnvironmentView, Overview, TestsView };

export type GitRef = EnvironmentView['gitRef'];
export type ListedRepository = Overview['repositories'][number];
export type SpawnBody = z.input<typeof spawnSchema>;

export type { DeviceDecision, DeviceSignIn } from '../../api/users/sign-in/routes.ts';
