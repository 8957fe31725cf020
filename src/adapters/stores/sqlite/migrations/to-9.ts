/** Schema 9: messages to people with threads, cards, files, parts and revisions. */

import type { Migration } from './list.ts'

export const TO_9: Migration = {
  to: 9,
  apply: `
ALTER TABLE outbox ADD COLUMN thread_id TEXT;
ALTER TABLE outbox ADD COLUMN card TEXT;
ALTER TABLE outbox ADD COLUMN files TEXT;
ALTER TABLE outbox ADD COLUMN parts_sent INTEGER NOT NULL DEFAULT 0;
ALTER TABLE outbox ADD COLUMN revision INTEGER NOT NULL DEFAULT 0;
ALTER TABLE outbox ADD COLUMN provider_id TEXT;
`,
}
