// Stands for Foundation as Apple has it, where URLSession is a part of it.
@_exported import Foundation
@_exported import FoundationNetworking
