/** The type of prepared statements. */

import type { StatementSync } from 'node:sqlite'

/** Returns the prepared statement for an SQL text. */
export type Sql = (text: string) => StatementSync
