/** The drill of the stores: it runs tests of homes on PostgreSQL, and knows which files did. */

import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { chooseFiles, findStaleFiles } from '../drills/stores/choose-files.ts'
import { drillStores } from '../drills/stores/drill-stores.ts'
import { TESTS_LEFT_OUT } from '../drills/stores/left-out.ts'
import { WITHOUT_POSTGRES } from '../support/postgres.ts'

const WITH_HOME = 'test/todo-clear.test.ts'
const WITHOUT_HOME = 'src/domain/breaker.test.ts'

describe('the drill of the stores', () => {
  it('E15: runs a test file with its homes on PostgreSQL, and does not count one that opens none', {
    skip: WITHOUT_POSTGRES,
  }, async () => {
    const result = await drillStores([WITH_HOME, WITHOUT_HOME], 1, () => {})
    assert.deepEqual(result.failures, [])
    assert.deepEqual({ files: result.files, without: result.withoutHomes }, { files: 1, without: [WITHOUT_HOME] })
    assert.ok(result.databases > 0 && result.passed > 0)
  })

  it('chooses the files whose imports lead to the program', () => {
    assert.deepEqual(chooseFiles([WITH_HOME, WITHOUT_HOME]).run, [WITH_HOME])
  })

  it('what it leaves out exists', () => {
    assert.deepEqual(findStaleFiles(), [])
    const unknown = Object.keys(TESTS_LEFT_OUT).filter((title) => {
      const [file = '', ...names] = title.split(' › ')
      const source = readFileSync(join(import.meta.dirname, '../..', file), 'utf8')
      return !names.every((name) => source.includes(name))
    })
    assert.deepEqual(unknown, [])
  })
})
