import type { RepositorySettingsView } from '../../api/types.ts';

export interface SettingsProps {
  settings: RepositorySettingsView;
  /** Saves a change of some settings. @throws RequestError */
  save: (body: object) => Promise<void>;
}
