// Loaded before a server: one that would listen on every interface listens on loopback.
'use strict';

const { Server } = require('node:net');

const { listen } = Server.prototype;

Server.prototype.listen = function (where, ...rest) {
  const isObject = typeof where === 'object' && where !== null;
  if (isObject && where.port !== undefined) {
    return listen.call(this, { ...where, host: '127.0.0.1' }, ...rest);
  }
  if (!isObject && where !== undefined && Number.isInteger(Number(where))) {
    const whenListening = rest.filter((it) => typeof it === 'function');
    return listen.call(this, { port: Number(where), host: '127.0.0.1' }, ...whenListening);
  }
  return listen.call(this, where, ...rest);
};
