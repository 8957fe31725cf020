/** The process that brings a database to a schema that is not there yet: migrate-main.ts FILE */

import { openForWriting } from '../../src/adapters/stores/sqlite/connection.ts'
import { NEXT } from './next-schema.ts'

const [file = ''] = process.argv.slice(2)
openForWriting(file, { history: NEXT }).close()
