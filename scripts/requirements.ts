/** `npm run requirements`: writes into docs/requirements.md which tests cite each row. */

import { writeFileSync } from 'node:fs'
import { parseTree } from '../test/architecture/parse.ts'
import { readCode, readText } from '../test/architecture/read-tree.ts'
import { findCitations, withTests } from '../test/architecture/requirements.ts'

const path = 'docs/requirements.md'
writeFileSync(
  new URL(`../${path}`, import.meta.url),
  withTests(readText(path) ?? '', findCitations(parseTree(readCode()))),
)
