import { createRequire } from 'node:module';

type Call<Answer> = (parameters: object) => Promise<{ data: Answer }>;

interface Page {
  values?: { id?: number }[];
}

/** The part of the official client that is used here. */
export interface BitbucketClient {
  repositories: {
    get: Call<unknown>;
    createWebhook: Call<{ uuid?: string }>;
    listWebhooks: Call<unknown>;
    deleteWebhook: Call<unknown>;
  };
  pullrequests: {
    list: Call<Page>;
    get: Call<unknown>;
    createComment: Call<{ id?: number }>;
    updateComment: Call<unknown>;
    listComments: Call<unknown>;
  };
  commitstatuses: { createBuildStatus: Call<unknown> };
  getNextPage: (page: Page) => Promise<{ data: Page }>;
}

interface BitbucketPackage {
  Bitbucket: new (options: object) => BitbucketClient;
}

/** The package without its types, which include TypeScript sources that do not compile with our settings. */
export const { Bitbucket } = createRequire(import.meta.url)('bitbucket') as BitbucketPackage;
