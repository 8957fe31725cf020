/** A process that migrates a database to a future schema: migrate-main.ts FILE */

import { openForWriting } from '../../src/adapters/stores/sqlite/connection.ts'
import { NEXT } from './next-schema.ts'

const [file = ''] = process.argv.slice(2)
openForWriting(file, { history: NEXT }).close()
