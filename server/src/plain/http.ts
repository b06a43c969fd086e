/**
 * What is used of Node's HTTP. To import it takes the modules of `fetch` and of WebSockets along, which it offers too and
 * nobody here asks for: a twentieth of a start.
 */
export const { createServer, STATUS_CODES } = process.getBuiltinModule('node:http')
