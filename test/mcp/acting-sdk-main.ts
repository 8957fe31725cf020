/** The acting server as a process that the SDK makes: acting-sdk-main.ts FOLDER */

import { serveStdio } from '@modelcontextprotocol/server/stdio'
import { actingIn } from './acting.ts'
import { offering } from './acting-sdk.ts'

const does = actingIn(process.argv[2] ?? '', () => process.exit(7))
does.note(`started ${process.pid}`)
serveStdio(() => offering(does))
