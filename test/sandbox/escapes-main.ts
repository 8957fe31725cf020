/** Runs all attempts as the user of this process; prints the outcomes as JSON. */

import { outcomes } from './escapes.ts'

console.log(JSON.stringify(await outcomes()))
