/** The databases of the homes that tests open: one per home, removed when the home is gone. */

import { existsSync } from 'node:fs'
import pg from 'pg'
import { openPostgresStore } from '../../../src/adapters/stores/postgres/store.ts'
import { systemClock } from '../../../src/adapters/system/clock.ts'
import type { PostgresServer } from '../../support/postgres.ts'

/** As use-postgres.mjs writes it. `folder`: of the test file. */
interface Owner {
  readonly home: string
  readonly folder: string
}

const OWNED = `SELECT datname AS name, shobj_description(oid, 'pg_database') AS owner FROM pg_database
  WHERE datname LIKE 'home\\_%'`

export class HomeDatabases {
  readonly #server: PostgresServer
  readonly #seen = new Map<string, Owner>()

  private constructor(server: PostgresServer) {
    this.#server = server
  }

  /** Contract: new databases are copies of one that has the tables already. */
  static async prepare(server: PostgresServer): Promise<HomeDatabases> {
    const databases = new HomeDatabases(server)
    const empty = await server.newDatabase()
    const store = await openPostgresStore({ url: empty, clock: systemClock, writerId: 'template' })
    await store.close()
    await databases.#query(`ALTER DATABASE ${new URL(empty).pathname.slice(1)} RENAME TO tireless_template`)
    return databases
  }

  /** Contract: how many homes used a database in the test file with this folder, so far. */
  countOf(folder: string): number {
    return [...this.#seen.values()].filter((owner) => owner.folder === folder).length
  }

  /** Removes the databases of homes that are gone. Contract: never rejects; a database in use is left for later. */
  async tidy(): Promise<void> {
    for (const { name, owner: text } of await this.#query(OWNED)) {
      if (text === null) continue
      const owner: Owner = JSON.parse(String(text))
      this.#seen.set(`${name} ${text}`, owner)
      if (existsSync(owner.home)) continue
      const force = existsSync(owner.folder) ? '' : ' WITH (FORCE)'
      await this.#query(`DROP DATABASE IF EXISTS ${name}${force}`).catch(() => undefined)
    }
  }

  async #query(text: string): Promise<Record<string, unknown>[]> {
    const client = new pg.Client(this.#server.adminUrl)
    await client.connect()
    return (await client.query(text).finally(() => client.end())).rows
  }
}
