'use strict';

module.exports = {
  ...require('./errors.js'),
  createMemory: require('./memory.js').createMemory,
  ...require('./console.js'),
};
